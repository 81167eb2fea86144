from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
from msgspec import UNSET, UnsetType

from raydap.protocol.message_base import Arguments, Message
from support import generate_typescript

Kind = Literal["one", "two"]


class Inner(Message, frozen=True):
    """First line.

    Third line."""

    kind: Kind
    other: Literal["b", "a"]


class Outer(Message, frozen=True):
    """One line."""

    some_items: tuple[Inner, ...]
    mixed: tuple[int | str, ...]
    always: float = 1.0
    absent: bool | UnsetType = UNSET


class Taken(Arguments, frozen=True):
    """Of a request."""

    optional: str | None = None


class Nothing(Arguments, frozen=True):
    """Of another one."""


class Explained(Message, frozen=True):
    """One field has a docstring."""

    seconds: float
    """Seconds until it ends."""
    name: str


class Unsupported(Message, frozen=True):
    """No field of ours is a set."""

    names: set[str]


def module(*structs: type[Message], **more: object) -> ModuleType:
    made = ModuleType("made")
    vars(made).update(PROTOCOL=7, REQUESTS={}, EVENTS={}, **more, **{each.__name__: each for each in structs})
    return made


def test_the_checked_in_file_is_what_the_structs_give() -> None:
    assert generate_typescript.TARGET.read_text(encoding="utf-8") == generate_typescript.render()


def test_fields_have_their_names_on_the_wire_and_types_of_typescript() -> None:
    assert generate_typescript.fields(Outer) == {
        "someItems": "readonly Inner[]",
        "mixed": "readonly (number | string)[]",
        "always": "number",
        "absent?": "boolean",
    }
    assert generate_typescript.fields(Inner, module(Kind=Kind)) == {"kind": "Kind", "other": "'a' | 'b'"}


def test_an_argument_with_a_default_may_be_left_out() -> None:
    assert generate_typescript.fields(Taken) == {"optional?": "string | null"}


def test_docstrings_become_comments() -> None:
    text = generate_typescript.render(module(Inner, Nothing, Kind=Kind))
    assert "/**\n * First line.\n *\n * Third line.\n */\nexport interface Inner {\n" in text
    assert "/** Of another one. */\nexport type Nothing = Record<string, never>;\n" in text
    assert "export type Kind = 'one' | 'two';\n" in text
    assert "export const PROTOCOL = 7;\n" in text


def test_requests_and_events_lead_to_their_types() -> None:
    made = module(Inner, Nothing)
    vars(made).update(REQUESTS={"raydap/x": (Nothing, Inner), "raydap/y": (Nothing, None)}, EVENTS={"raydap/z": Inner})
    text = generate_typescript.render(made)
    assert "  readonly 'raydap/x': { readonly arguments: Nothing; readonly answer: Inner };\n" in text
    assert "  readonly 'raydap/y': { readonly arguments: Nothing; readonly answer: undefined };\n" in text
    assert "export interface Events {\n  readonly 'raydap/z': Inner;\n}\n" in text


def test_a_type_that_is_not_known_stops_the_generator() -> None:
    with pytest.raises(
        generate_typescript.UnsupportedType, match=r"^Unsupported\.names: no TypeScript is known for Set"
    ):
        generate_typescript.render(module(Unsupported))


def test_check_says_that_the_file_is_out_of_date_and_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "messages.ts"
    monkeypatch.setattr(generate_typescript, "TARGET", target)
    target.write_text("old", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"^messages\.ts is out of date"):
        generate_typescript.main(["--check"])
    assert target.read_text(encoding="utf-8") == "old"
    generate_typescript.main([])
    generate_typescript.main(["--check"])


def test_the_docstring_below_a_field_becomes_its_comment() -> None:
    text = generate_typescript.render(module(Explained))
    assert "  /** Seconds until it ends. */\n  readonly seconds: number;\n  readonly name: string;\n" in text
