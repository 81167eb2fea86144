import pytest

from raydap.core.settings import AttachSettings, LaunchSettings, PathMapping
from raydap.core.translate import paths

PACKAGE = "/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_0123abcd"


def test_a_worker_in_a_package_is_known_by_its_working_directory() -> None:
    assert paths.package(PACKAGE) == PACKAGE
    assert paths.package(f"{PACKAGE}/inner") == PACKAGE


@pytest.mark.parametrize("result", ["/home/me", [], [7], ["a", "b"], "[", "", None, 7])
def test_any_other_worker_has_no_package(result: object) -> None:
    assert paths.package(result) is None


def test_a_file_of_the_package_is_shown_where_the_client_has_it() -> None:
    assert paths.to_client(f"{PACKAGE}/sub/x.py", "/home/me") == "/home/me/sub/x.py"
    assert paths.to_client(f"{PACKAGE}/sub/x.py", None) == f"{PACKAGE}/sub/x.py"
    assert paths.to_client("/usr/lib/x.py", "/home/me") == "/usr/lib/x.py"


def test_a_file_of_the_workspace_can_have_two_paths_in_a_worker() -> None:
    assert paths.to_worker("/home/me/x.py", "/home/me", PACKAGE) == [f"{PACKAGE}/x.py", "/home/me/x.py"]
    assert paths.to_worker("/home/me/x.py", "/home/me", None) == ["/home/me/x.py"]
    assert paths.to_worker("/home/me/x.py", None, PACKAGE) == ["/home/me/x.py"]
    assert paths.to_worker("/home/melissa/x.py", "/home/me", PACKAGE) == ["/home/melissa/x.py"]
    assert paths.to_worker("", "/home/me", PACKAGE) == [""]


def test_what_the_workspace_is() -> None:
    mapping = PathMapping(local_root="/a", remote_root="/b")
    assert paths.workspace(AttachSettings()) is None
    assert paths.workspace(AttachSettings(workspace_folder="/home/me/")) == "/home/me"
    assert paths.workspace(AttachSettings(workspace_folder="/home/me", path_mappings=(mapping,))) is None
    assert paths.workspace(LaunchSettings(program="x.py", cwd="/home/me", submit=True)) == "/home/me"
    assert paths.workspace(LaunchSettings(program="x.py", cwd="/home/me")) is None
    assert paths.workspace(LaunchSettings(program="x.py", cwd="/a", submit=True, workspace_folder="/b")) == "/b"
