from support import user_strings

SOURCE = '''
"""The docstring of a module."""

def refuse(name: str) -> None:
    """Refuse a name."""
    raise ValueError(f"there is no worker {name}; list them", "ray.remote", "import os")
'''


def test_texts_are_found_and_code_and_docstrings_are_left_out() -> None:
    found = [text for _, text in user_strings.python_texts(SOURCE) if user_strings.is_text(text)]
    assert found == ["there is no worker {}; list them"]


def test_texts_of_the_extension_are_found() -> None:
    source = "/* No text. */\nconst url = 'http://a'; // nor this one\nshow(`Resume ${count} workers`, 'it is late');\n"
    found = [(line, text) for line, text in user_strings.typescript_texts(source) if user_strings.is_text(text)]
    assert found == [(3, "Resume {} workers"), (3, "it is late")]


def test_the_whole_list_has_texts_of_all_kinds() -> None:
    listed = list(user_strings.texts())
    assert any(each.startswith("adapter/raydap/core/") for each in listed)
    assert any(each.startswith("vscode-ext/package.json: ") for each in listed)
    assert any(each.startswith("vscode-ext/src/") for each in listed)
