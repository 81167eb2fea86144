"""Generates id_fields.py and messages.py from the DAP schema that ships with debugpy.

Run `python -m support.generate_messages` after an update of debugpy. The tables IDS and NOT_IDS decide which integers
are ids, because the schema does not. Any other integer that looks like an id stops the generator.
"""

import argparse
import importlib.util
import json
import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

Schema = Mapping[str, Any]

SCHEMA = "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"
LINE_LENGTH = 120
FOLDER = Path(__file__).parents[2] / "adapter" / "raydap" / "protocol"

# The keys are "Type.property", or the property alone if it means the same in every type.
IDS = {
    "Thread.id": "THREAD",
    "threadId": "THREAD",
    "threadIds": "THREAD",
    "StackFrame.id": "FRAME",
    "frameId": "FRAME",
    "stackFrameId": "FRAME",
    "variablesReference": "VARIABLES",
    "sourceReference": "SOURCE",
    "Breakpoint.id": "BREAKPOINT",
    "hitBreakpointIds": "BREAKPOINT",
    "Module.id": "MODULE",
    "moduleId": "MODULE",
    "GotoTarget.id": "GOTO_TARGET",
    "GotoArguments.targetId": "GOTO_TARGET",
    "StepInTarget.id": "STEP_IN_TARGET",
    "StepInArguments.targetId": "STEP_IN_TARGET",
    # In DAP 1.68 and later; listed in advance, so that a newer debugpy needs no change here.
    "locationReference": "LOCATION",
    "valueLocationReference": "LOCATION",
    "declarationLocationReference": "LOCATION",
}
NOT_IDS = frozenset(
    {
        "Message.id",  # The number of an error.
        "requestId",  # The seq of a request, which the pending requests translate.
        "processId",
        "shellProcessId",
        "systemProcessId",
    }
)
# The objects that the bridge itself makes. Other objects pass through it and need no type.
WRITTEN = ("Breakpoint", "Capabilities", "InitializeRequestArguments", "OutputEventBody", "ProcessEventBody", "Thread")
LOOKS_LIKE_ID = re.compile(r"(^i|I)ds?$|Reference$")


class SchemaError(Exception):
    """The schema has a shape that the generator cannot handle. The text names the type and the property."""


@dataclass(frozen=True)
class ObjectType:
    """A JSON object of the schema."""

    properties: Schema
    """The schema of each property, by its name; without the properties of `base`."""
    required: frozenset[str] = frozenset()
    """The names of the properties that are always present."""
    base: str | None = None
    """The name of the type that it extends."""


@dataclass
class ProtocolSchema:
    """The definitions of the schema, sorted by what they define."""

    objects: dict[str, ObjectType] = field(default_factory=dict)
    """The types that are JSON objects, by their names."""
    strings: dict[str, Schema] = field(default_factory=dict)
    """The schemas of the types that are strings, by their names."""
    arguments: dict[str, str] = field(default_factory=dict)
    """The name of the type of the arguments, by command; without the commands that have none."""
    responses: dict[str, str] = field(default_factory=dict)
    """The name of the type of the answer's body, by command; without the commands that have none."""
    events: dict[str, str] = field(default_factory=dict)
    """The name of the type of the body, by event; without the events that have none."""
    commands: set[str] = field(default_factory=set)
    """The commands that clients send."""
    reverse_requests: set[str] = field(default_factory=set)
    """The commands that a debug adapter sends to a client."""
    event_names: set[str] = field(default_factory=set)
    """The names of all events."""


def load() -> Schema:
    """Return the definitions of the installed debugpy's schema, without importing debugpy."""
    spec = importlib.util.find_spec("debugpy")
    if spec is None or not spec.submodule_search_locations:
        raise SchemaError("debugpy is not installed, so there is no schema to read.")
    text = Path(spec.submodule_search_locations[0], SCHEMA).read_text(encoding="utf-8")
    return cast(Schema, json.loads(text)["definitions"])


def parse(definitions: Schema) -> ProtocolSchema:
    """Sort the definitions into a Protocol. Raises SchemaError for an unknown shape."""
    protocol = ProtocolSchema()
    section = ""
    for name, definition in definitions.items():
        base, own = _split(definition)
        # Only the first definition of a group has the group's title, and only the title marks reverse requests.
        section = own.get("title", section)
        if name in ("ProtocolMessage", "Request", "Event", "Response"):
            continue
        if base in ("Request", "Event", "Response"):
            _add_message(protocol, name, base, own.get("properties", {}), section)
        elif own["type"] == "string":
            protocol.strings[name] = own
        else:
            protocol.objects[name] = _object(own, base)
    return protocol


def _split(definition: Schema) -> tuple[str | None, Schema]:
    """Return a definition's base type, if it extends one, and the definition's own part."""
    if "allOf" not in definition:
        return None, definition
    parent, own = definition["allOf"]
    return _referred(parent), own


def _add_message(protocol: ProtocolSchema, name: str, base: str, properties: Schema, section: str) -> None:
    if base == "Request":
        command = properties["command"]["enum"][0]
        (protocol.reverse_requests if section == "Reverse Requests" else protocol.commands).add(command)
        if "arguments" in properties:
            protocol.arguments[command] = _payload(protocol, name + "Arguments", properties["arguments"])
    elif base == "Event":
        event = properties["event"]["enum"][0]
        protocol.event_names.add(event)
        if "body" in properties:
            protocol.events[event] = _payload(protocol, name + "Body", properties["body"])
    elif "body" in properties:
        # The schema links a response to its request by the response's name alone.
        command = name[0].lower() + name.removesuffix("Response")[1:]
        protocol.responses[command] = _payload(protocol, name + "Body", properties["body"])


def _payload(protocol: ProtocolSchema, name: str, schema: Schema) -> str:
    """Return the name of the type of a body or of arguments. An inline object becomes a type of its own."""
    if "$ref" in schema:
        return _referred(schema)
    protocol.objects[name] = _object(schema, None)
    return name


def _object(schema: Schema, base: str | None) -> ObjectType:
    return ObjectType(schema.get("properties", {}), frozenset(schema.get("required", ())), base)


def _referred(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def render_ids(protocol: ProtocolSchema) -> str:
    """Return the text of id_fields.py. Raises SchemaError for an id that is in no table."""
    rules = _rules(protocol)
    known = [("ARGUMENTS", protocol.arguments), ("RESPONSES", protocol.responses), ("EVENTS", protocol.events)]
    maps = (
        f"{name}: Final[Mapping[str, str]] = "
        + _exploded("{", (f'"{key}": "{value}"' for key, value in sorted(types.items()) if value in rules), "}")
        for name, types in known
    )
    sets = (
        f"{name}: Final = frozenset(\n" + _indent(_exploded("{", (f'"{key}"' for key in sorted(names)), "}")) + "\n)"
        for name, names in [
            ("COMMANDS", protocol.commands),
            ("REVERSE_REQUESTS", protocol.reverse_requests),
            ("EVENT_NAMES", protocol.event_names),
        ]
    )
    kinds = "".join(f'    {kind} = "{kind.lower().replace("_", " ")}"\n' for kind in dict.fromkeys(IDS.values()))
    entries = (f'"{name}": ' + "{" + ", ".join(rules[name]) + "}" for name in sorted(rules))
    table = "RULES: Final[Mapping[str, Mapping[str, Rule]]] = " + _exploded("{", entries, "}")
    return IDS_HEAD.replace("    KINDS\n", kinds) + "\n".join([table, *maps, *sets]) + "\n"


def _rules(protocol: ProtocolSchema) -> dict[str, list[str]]:
    """Return the source text of the rules, by type, for the types that contain an id, directly or further down."""
    ids: dict[str, dict[str, str]] = {}
    refs: dict[str, dict[str, Schema]] = {}
    for name in protocol.objects:
        properties = _all_properties(protocol, name)
        ids[name] = {key: rule for key, schema in properties.items() if (rule := _id_rule(name, key, schema))}
        refs[name] = {key: schema for key, schema in properties.items() if _target(schema) in protocol.objects}
    holding = {name for name in ids if ids[name]}
    while more := {name for name in refs if any(_target(s) in holding for s in refs[name].values())} - holding:
        holding |= more
    return {
        name: [f'"{key}": {rule}' for key, rule in ids[name].items()]
        + [f'"{key}": {_ref_rule(schema)}' for key, schema in refs[name].items() if _target(schema) in holding]
        for name in holding
    }


def _all_properties(protocol: ProtocolSchema, name: str) -> dict[str, Any]:
    this = protocol.objects[name]
    return {**(_all_properties(protocol, this.base) if this.base else {}), **this.properties}


def _id_rule(type_name: str, key: str, schema: Schema) -> str | None:
    is_list = schema.get("type") == "array"
    names = schema["items"].get("type", ()) if is_list else schema.get("type", ())
    full = f"{type_name}.{key}"
    if "integer" not in ([names] if isinstance(names, str) else names):
        return None
    kind = IDS.get(full, IDS.get(key))
    if kind is not None:
        return f"(Kind.{kind}, list)" if is_list else f"Kind.{kind}"
    if LOOKS_LIKE_ID.search(key) and not NOT_IDS & {full, key}:
        raise SchemaError(f"{full} looks like an id: add it to IDS or NOT_IDS in generate_messages.py.")
    return None


def _ref_rule(schema: Schema) -> str:
    return f'Ref("{_target(schema)}"' + (", is_list=True)" if "items" in schema else ")")


def _target(schema: Schema) -> str | None:
    inner = schema.get("items", schema)
    return _referred(inner) if "$ref" in inner else None


def render_messages(protocol: ProtocolSchema, roots: Iterable[str] = WRITTEN) -> str:
    """Return the text of messages.py: the types named by `roots`, and the types that these contain."""
    wanted = _with_parts(protocol, roots)
    strings = "".join(_alias(name, schema) + "\n" for name, schema in protocol.strings.items() if name in wanted)
    texts = {name: f"DAP's type `{name}`." for name in wanted}
    texts |= {type_: f"The arguments of `{command}`." for command, type_ in protocol.arguments.items()}
    texts |= {type_: f"The body of the answer to `{command}`." for command, type_ in protocol.responses.items()}
    texts |= {type_: f"The body of the event `{event}`." for event, type_ in protocol.events.items()}
    blocks = (_typed_dict(name, this, texts[name]) for name, this in protocol.objects.items() if name in wanted)
    return MESSAGES_HEAD + strings + "\n\n" + "\n\n\n".join(blocks) + "\n"


def _with_parts(protocol: ProtocolSchema, roots: Iterable[str]) -> set[str]:
    wanted: set[str] = set()
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            if name in protocol.objects:
                this = protocol.objects[name]
                todo += [this.base] if this.base else []
                todo += _mentioned(this.properties)
    return wanted


def _mentioned(schema: Any) -> list[str]:
    """Return every type to which a part of the schema refers."""
    if isinstance(schema, dict):
        here = [_referred(schema)] if "$ref" in schema else []
        return here + [name for value in schema.values() for name in _mentioned(value)]
    return [name for each in schema for name in _mentioned(each)] if isinstance(schema, list) else []


def _alias(name: str, schema: Schema) -> str:
    if "enum" not in schema:
        return f"{name} = str"
    return _bracketed(f"{name} = Literal[", [json.dumps(value) for value in schema["enum"]], "]")


def _typed_dict(name: str, this: ObjectType, text: str) -> str:
    types = {key: _annotation(schema) for key, schema in this.properties.items()}
    if any(keyword.iskeyword(key) or key.startswith("__") for key in types):
        # In the body of a class a keyword cannot be a name, and a name with two leading underscores is mangled.
        if this.base or this.required:
            raise SchemaError(f"{name} needs the functional syntax, which can express neither base nor required keys.")
        items = [f'"{key}": {annotation}' for key, annotation in types.items()]
        return f'{name} = TypedDict("{name}", {{{", ".join(items)}}}, total=False)'
    required = {key: annotation for key, annotation in types.items() if key in this.required}
    optional = {key: annotation for key, annotation in types.items() if key not in this.required}
    base = this.base or "TypedDict"
    if required and optional:
        return (
            _class(f"_{name}Required({base})", required)
            + "\n\n\n"
            + _class(f"{name}(_{name}Required, total=False)", optional, text)
        )
    return _class(f"{name}({base})" if required else f"{name}({base}, total=False)", types, text)


def _class(head: str, types: Mapping[str, str], text: str = "") -> str:
    lines = [f'    """{text}"""', ""] if text else []
    lines += [f"    {key}: {annotation}" for key, annotation in types.items()] or ["    pass"]
    return "\n".join([f"class {head}:", *lines])


def _annotation(schema: Schema) -> str:
    """Return the Python type of a property."""
    if "$ref" in schema:
        return _referred(schema)
    if "oneOf" in schema:
        return " | ".join(_annotation(each) for each in schema["oneOf"])
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    kind = schema["type"]
    if isinstance(kind, list):
        return "Any" if "object" in kind else " | ".join(_annotation({"type": each}) for each in kind)
    if kind == "array":
        return f"list[{_annotation(schema['items'])}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {_annotation(values) if isinstance(values, dict) else 'Any'}]"
    return {"integer": "int", "string": "str", "boolean": "bool", "number": "float", "null": "None"}[kind]


# The layout of ruff format.


def _bracketed(opening: str, items: list[str], closing: str) -> str:
    line = opening + ", ".join(items) + closing
    return line if len(line) <= LINE_LENGTH else _exploded(opening, items, closing)


def _exploded(opening: str, items: Iterable[str], closing: str) -> str:
    return "\n".join([opening, *(f"    {item}," for item in items), closing])


def _indent(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


IDS_HEAD = '''"""Where ids are in DAP messages.

Generated by generate_messages.py from debugpy's schema; not edited by hand. RULES contains all types that have ids,
directly or further down. ARGUMENTS, RESPONSES and EVENTS map a command or an event to such a type.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple


class Kind(Enum):
    """The kind of an object that an id names. The value is its name in texts for users."""

    __hash__ = object.__hash__  # Faster: Enum hashes the name, in Python code, and each id is looked up by its kind.

    KINDS


class Ref(NamedTuple):
    """The rule of a property that contains an object with ids, or an array of such objects."""

    type_name: str
    """The name of the object's type."""
    is_list: bool = False
    """Whether the property contains an array."""


# The content of a property: an id, an array of ids, or objects with ids.
Rule = Kind | tuple[Kind, type[list[Any]]] | Ref

'''

MESSAGES_HEAD = '''"""The JSON objects of DAP that raydap makes: arguments, bodies, and the objects in them.

Generated by generate_messages.py from debugpy's schema; not edited by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

'''


def main(arguments: list[str] | None = None) -> None:
    """Write both files, or with `--check` compare them and exit with a sentence if one is out of date."""
    parser = argparse.ArgumentParser(prog="python -m support.generate_messages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a file is out of date")
    check = parser.parse_args(arguments).check
    protocol = parse(load())
    for path, text in [
        (FOLDER / "id_fields.py", render_ids(protocol)),
        (FOLDER / "messages.py", render_messages(protocol)),
    ]:
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{path.name} is out of date: run python -m support.generate_messages.")


if __name__ == "__main__":
    main()
