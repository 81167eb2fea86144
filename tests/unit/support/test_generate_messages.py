import importlib.util
from pathlib import Path
from typing import Any

import pytest

from support import generate_messages

FOLDER = generate_messages.FOLDER


def type_with(key: str, schema: dict[str, Any]) -> generate_messages.ProtocolSchema:
    return generate_messages.parse({"Thing": {"type": "object", "properties": {key: schema}}})


def test_the_checked_in_files_are_what_the_installed_schema_gives() -> None:
    protocol = generate_messages.parse(generate_messages.load())
    assert (FOLDER / "id_fields.py").read_text(encoding="utf-8") == generate_messages.render_ids(protocol)
    assert (FOLDER / "messages.py").read_text(encoding="utf-8") == generate_messages.render_messages(protocol)


def test_both_files_are_written_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate_messages, "FOLDER", tmp_path)
    generate_messages.main([])
    for name in ("id_fields.py", "messages.py"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_check_names_the_file_that_is_out_of_date_and_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate_messages, "FOLDER", tmp_path)
    (tmp_path / "id_fields.py").write_bytes((FOLDER / "id_fields.py").read_bytes())
    (tmp_path / "messages.py").write_text("old", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"^messages\.py is out of date"):
        generate_messages.main(["--check"])
    assert (tmp_path / "messages.py").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize(
    ("key", "schema"),
    [
        ("id", {"type": "integer"}),
        ("heapId", {"type": "integer"}),
        ("heapReference", {"type": "integer"}),
        ("heapId", {"type": ["integer", "string"]}),
        ("heapIds", {"type": "array", "items": {"type": "integer"}}),
    ],
)
def test_an_unknown_integer_that_looks_like_an_id_stops_the_generator(key: str, schema: dict[str, Any]) -> None:
    with pytest.raises(generate_messages.SchemaError, match=rf"^Thing\.{key} looks like an id"):
        generate_messages.render_ids(type_with(key, schema))


@pytest.mark.parametrize(
    ("key", "schema"),
    [
        ("line", {"type": "integer"}),
        ("valid", {"type": "integer"}),
        ("processId", {"type": "integer"}),
        ("memoryReference", {"type": "string"}),
    ],
)
def test_what_is_no_id_gets_no_rule(key: str, schema: dict[str, Any]) -> None:
    assert '"Thing"' not in generate_messages.render_ids(type_with(key, schema))


def test_the_location_ids_of_later_versions_of_dap_are_known() -> None:
    text = generate_messages.render_ids(type_with("valueLocationReference", {"type": "integer"}))
    assert '"Thing": {"valueLocationReference": Kind.LOCATION},' in text


def test_a_keyword_as_a_key_takes_the_functional_syntax() -> None:
    text = generate_messages.render_messages(type_with("from", {"type": "string"}), ["Thing"])
    assert 'Thing = TypedDict("Thing", {"from": str}, total=False)' in text


def test_a_required_keyword_is_refused_and_not_made_optional() -> None:
    definition = {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]}
    with pytest.raises(generate_messages.SchemaError, match=r"^Thing needs the functional syntax"):
        generate_messages.render_messages(generate_messages.parse({"Thing": definition}), ["Thing"])


def test_without_debugpy_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(generate_messages.SchemaError, match="debugpy is not installed"):
        generate_messages.load()
