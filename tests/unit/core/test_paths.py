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


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("C:\\Users\\dev\\proj", "c:\\Users\\dev\\proj\\pkg\\x.py"),
        ("c:\\users\\dev\\proj", "C:\\Users\\Dev\\proj\\pkg\\x.py"),
        ("C:/Users/dev/proj", "c:\\Users\\dev\\proj\\pkg\\x.py"),
        ("\\\\server\\share", "\\\\server\\share\\pkg\\x.py"),
    ],
)
def test_folders_of_a_client_on_windows(folder: str, path: str) -> None:
    assert paths.to_worker(path, folder, PACKAGE) == [f"{PACKAGE}/pkg/x.py", path]
    shown = paths.to_client(f"{PACKAGE}/pkg/x.py", folder)
    assert shown == folder.replace("/", "\\") + "\\pkg\\x.py"
    settings = AttachSettings(path_mappings=(PathMapping(folder, "/srv/app"),))
    assert paths.client_os(settings) == "windows"
    assert paths.mapped("/srv/app/pkg/x.py", settings, "/") == shown
    assert paths.is_clients(path, settings)
    assert not paths.is_clients("C:\\Users\\dev\\project\\x.py", settings)


def test_a_folder_of_windows_ends_without_a_separator() -> None:
    assert paths.workspace(AttachSettings(workspace_folder="c:\\proj\\")) == "c:\\proj"
    assert paths.workspace(AttachSettings(workspace_folder="C:/proj/")) == "C:/proj"
    assert paths.workspace(AttachSettings(workspace_folder="C:\\")) == "C:"
    assert paths.to_worker("C:\\x.py", "C:", PACKAGE) == [f"{PACKAGE}/x.py", "C:\\x.py"]


def test_other_clients_are_not_on_windows() -> None:
    assert paths.client_os(AttachSettings()) == "unix"
    assert paths.client_os(AttachSettings(path_mappings=(PathMapping("/home/me", "/srv"),))) == "unix"
    assert paths.to_worker("/home/ME/x.py", "/home/me", PACKAGE) == ["/home/ME/x.py"]


def test_what_the_workspace_is() -> None:
    mapping = PathMapping(local_root="/a", remote_root="/b")
    assert paths.workspace(AttachSettings()) is None
    assert paths.workspace(AttachSettings(workspace_folder="/home/me/")) == "/home/me"
    assert paths.workspace(AttachSettings(workspace_folder="/home/me", path_mappings=(mapping,))) is None
    assert paths.workspace(LaunchSettings(program="x.py", cwd="/home/me", submit=True)) == "/home/me"
    assert paths.workspace(LaunchSettings(program="x.py", cwd="/home/me")) is None
    assert paths.workspace(LaunchSettings(program="x.py", cwd="/a", submit=True, workspace_folder="/b")) == "/b"
