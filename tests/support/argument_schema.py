"""The schema of `attach` and `launch` in the extension's package.json; run it to write the schema there.

Names, types, defaults and choices are those of raydap.core.settings. vscode-ext/arguments.json adds the texts and what
only an editor has.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from raydap.core.settings import AttachSettings, LaunchSettings

EXTENSION = Path(__file__).parents[2] / "vscode-ext"
MANIFEST = EXTENSION / "package.json"
TEXTS = EXTENSION / "arguments.json"

NOT_IN_A_FILE = {"join"}
"""The arguments that launch.json does not have: `join` is for programs that join the session of an editor."""

_NAMES: dict[type[inspect.Type], str] = {
    inspect.BoolType: "boolean",
    inspect.StrType: "string",
    inspect.IntType: "integer",
    inspect.NoneType: "null",
}


def schema(kind: inspect.Type) -> dict[str, Any]:
    """Return the JSON schema of a field. None means that the argument is missing, so a field has no type null."""
    if isinstance(kind, inspect.UnionType):
        kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    if isinstance(kind, inspect.LiteralType):
        return {"type": "string", "enum": list(kind.values)}
    if isinstance(kind, inspect.VarTupleType):
        return {"type": "array", "items": schema(kind.item_type)}
    if isinstance(kind, inspect.DictType):
        return {"type": "object", "additionalProperties": {"type": _names(kind.value_type)}}
    if isinstance(kind, inspect.StructType):
        fields = {each.encode_name: schema(each.type) for each in kind.fields}
        return {"type": "object", "required": list(fields), "additionalProperties": False, "properties": fields}
    return {"type": _NAMES[type(kind)]}


def _names(kind: inspect.Type) -> str | list[str]:
    """Return the names of the types of a dictionary's values."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    names = [_NAMES[type(each)] for each in kinds]
    return names[0] if len(names) == 1 else names


def _default(value: object) -> dict[str, Any]:
    return {} if value in (None, msgspec.NODEFAULT) or isinstance(value, (tuple, dict)) else {"default": value}


def properties(settings: type[AttachSettings], texts: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of a request, in the order of the texts. Raises ValueError if a text is missing."""
    info = inspect.type_info(settings)
    assert isinstance(info, inspect.StructType)
    fields = {each.encode_name: each for each in info.fields if each.encode_name not in NOT_IN_A_FILE}
    missing = fields.keys() - texts.keys()
    if missing:
        raise ValueError(f"vscode-ext/arguments.json has no text for {', '.join(sorted(missing))}")
    made = {}
    for name, text in texts.items():
        if name in fields:
            made[name] = _merged({**schema(fields[name].type), **_default(fields[name].default)}, _with_choices(text))
            if set(made[name].get("enum", ())) != set(schema(fields[name].type).get("enum", ())):
                raise ValueError(f"vscode-ext/arguments.json describes other choices of {name}")
    return made


def _with_choices(text: dict[str, Any]) -> dict[str, Any]:
    """Return the texts with those of the choices as VS Code expects them."""
    choices = text.get("choices")
    if choices is None:
        return text
    rest = {name: value for name, value in text.items() if name != "choices"}
    return {**rest, "enum": list(choices), "enumDescriptions": list(choices.values())}


def _merged(made: dict[str, Any], text: dict[str, Any]) -> dict[str, Any]:
    """Return `made` with the texts, which win. Schemas in schemas are merged, too."""
    both = {**made, **text}
    for name in made.keys() & text.keys():
        if isinstance(made[name], dict) and isinstance(text[name], dict):
            both[name] = _merged(made[name], text[name])
    return both


def texts() -> dict[str, dict[str, Any]]:
    """Return the texts of the arguments."""
    content: dict[str, dict[str, Any]] = json.loads(TEXTS.read_text("utf-8"))
    return content


def manifest() -> str:
    """Return the text of package.json with the schema of both requests."""
    written = texts()
    content: dict[str, Any] = json.loads(MANIFEST.read_text("utf-8"))
    attributes = content["contributes"]["debuggers"][0]["configurationAttributes"]
    for request, settings in (("attach", AttachSettings), ("launch", LaunchSettings)):
        made = properties(settings, written["arguments"])
        attributes[request]["properties"] = {**made, **written["of the extension"]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    MANIFEST.write_text(manifest(), "utf-8")
