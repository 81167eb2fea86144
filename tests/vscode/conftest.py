"""RAYDAP_WITHOUT_VSCODE=1 leaves out the tests in VS Code."""

from support import vscode

collect_ignore = ["test_extension.py"] if vscode.LEFT_OUT else []
