"""The lines of a function after which a watched value may have changed; runs in the worker, from Python 3.12 on.

A watchpoint costs time at each line that it is called for. So it is called only for the lines that can follow a line
which may change the value. For a variable of the function that is a number, that is a line that assigns to it. For
anything else it is each line that calls, assigns to an attribute or an item, or iterates.
"""

import ast
import dis
from types import CodeType, FunctionType
from typing import Any, NamedTuple

_PLAIN = (
    ast.Expression,
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.BinOp,
    ast.Load,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
"""The nodes of an expression whose value depends only on the values of its variables."""

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_INERT = (
    "LOAD_", "COMPARE_OP", "CONTAINS_OP", "IS_OP", "TO_BOOL", "BUILD_", "COPY", "SWAP", "POP_TOP", "POP_JUMP", "JUMP",
    "NOP", "NOT_TAKEN", "RESUME", "CACHE", "PUSH_", "POP_EXCEPT", "POP_ITER", "EXTENDED_ARG", "END_", "RETURN_",
    "MAKE_", "SET_FUNCTION", "UNARY_", "FORMAT_", "CONVERT_", "BINARY_SUBSCR", "BINARY_SLICE", "STORE_FAST",
    "DELETE_FAST", "STORE_DEREF", "UNPACK_", "LIST_", "SET_", "DICT_", "MAP_ADD", "CHECK_", "GET_LEN", "MATCH_",
    "RERAISE", "RAISE_", "INTERPRETER_EXIT", "KW_NAMES", "PRECALL", "BINARY_OP",
)  # fmt: skip
"""The beginnings of the names of instructions that change no attribute, no item, and nothing in another function.

BINARY_OP is one of these unless it changes its operand in place.
"""


_OWN_FUNCTIONS = {
    "range",
    "len",
    "int",
    "float",
    "str",
    "bool",
    "abs",
    "min",
    "max",
    "isinstance",
    "print",
    "type",
    "round",
}
"""Functions of Python that change nothing, unless an argument is an unusual object of the program's."""


def roots_of(tree: Any) -> "set[str]":
    """Return the names of the variables in an expression."""
    return {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}


def is_plain(tree: Any) -> bool:
    """Return whether the value of an expression depends only on its variables, if they are numbers or texts."""
    return all(isinstance(each, _PLAIN) for each in ast.walk(tree))


def is_condition(tree: Any) -> bool:
    """Return whether an expression is true or false, so that it is watched for becoming true."""
    body = tree.body
    negated = isinstance(body, ast.UnaryOp) and isinstance(body.op, ast.Not)
    return negated or isinstance(body, (ast.Compare, ast.BoolOp))


def has_scopes(tree: Any) -> bool:
    """Return whether an expression contains a scope of its own, which sees only global names in an `eval`."""
    return any(isinstance(each, _SCOPES) for each in ast.walk(tree))


class NotPlainError(Exception):
    """A variable has a value that may change without an assignment."""


def evaluator(text: str, code: Any, plain: "frozenset[Any] | None") -> Any:
    """Return a function that evaluates an expression in a frame of a function; it gets the frame and its variables.

    This is faster than `eval`, which Python audits. With `plain`, the function raises NotPlainError if the type of a
    variable is not among these. Return None for the code of a module or class.
    """
    if not code.co_flags & 1:
        return None
    tree = ast.parse(text, mode="eval")
    local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    roots = roots_of(tree)
    names = sorted(roots & local)
    made: Any = eval(compile(f"lambda {', '.join(names)}: (\n{text}\n)", "<raydap watch>", "eval"), {})
    if len(names) == 1 and len(roots) == 1:
        (name,) = names

        def evaluate_one(frame: Any, variables: Any) -> Any:
            value = variables[name]
            if plain is not None and type(value) not in plain:
                raise NotPlainError
            return made(value)

        return evaluate_one
    calls: list[Any] = [made]

    def evaluate(frame: Any, variables: Any) -> Any:
        values = [variables[each] for each in names]
        if plain is not None:
            for each in values:
                if type(each) not in plain:
                    raise NotPlainError
        if calls[0].__globals__ is not frame.f_globals:
            calls[0] = FunctionType(made.__code__, frame.f_globals)
        return calls[0](*values)

    return evaluate


class LineUse(NamedTuple):
    """The work of a watchpoint at a line."""

    evaluates: bool
    """Whether it evaluates its expression before the line."""
    notes: bool
    """Whether it notes the line as the last one that may have changed the value."""
    only: int
    """The only line before this one that may have changed the value; 0 if there are several."""
    once: bool = False
    """Whether one evaluation in a call is enough, because the lines before this one are in no loop."""


def lines_to_check(code: Any, roots: "set[str]", plain: bool) -> "tuple[dict[int, LineUse], set[int]]":
    """Return the lines of a function that matter for an expression, and the lines that may change its value.

    `roots` are the variables in the expression. `plain`: only assignments to them change the value.
    """
    instructions = list(dis.get_instructions(code))
    own, lines = _line_numbers(code)
    effects: set[int] = set()
    handlers: set[int] = set()
    edges: set[tuple[int, int]] = set()
    inner = _harmless(instructions, lines)
    loops = [(each.argval, each.offset) for each in instructions if each.opname.startswith("JUMP_BACKWARD")]
    in_loops = {line for offset, line in lines.items() if any(first <= offset <= last for first, last in loops)}
    for at, each in enumerate(instructions):
        line = lines.get(each.offset, 0)
        if _assigns(each, roots) or not (plain or _is_inert(each) or each.offset in inner):
            effects.add(line)
        if each.opname == "PUSH_EXC_INFO":
            handlers.add(next((own[after.offset] for after in instructions[at:] if own.get(after.offset)), line))
        targets = [each.argval] if "JUMP" in each.opname or each.opname in ("FOR_ITER", "SEND") else []
        if not each.opname.startswith(("RETURN_", "RAISE_", "RERAISE", "JUMP_", "INTERPRETER_EXIT")):
            targets += [instructions[at + 1].offset] if at + 1 < len(instructions) else []
        for target in targets:
            after = lines.get(target, 0) if isinstance(target, int) else 0
            if after and (after != line or target <= each.offset):
                edges.add((line, after))
    before: dict[int, set[int]] = {}
    for line, after in edges:
        if line in effects:
            before.setdefault(after, set()).add(line)
    noted = effects if handlers else {line for each in before.values() if len(each) > 1 for line in each}
    found: dict[int, LineUse] = {}
    for line in {*before, *handlers, *noted}:
        possible = before.get(line, set())
        only = next(iter(possible)) if len(possible) == 1 and line not in handlers else 0
        once = line in before and line not in handlers and possible.isdisjoint(in_loops)
        found[line] = LineUse(line in before or line in handlers, line in noted, only, once)
    return found, effects


def _line_numbers(code: Any) -> "tuple[dict[int, int], dict[int, int]]":
    """Return the line of each instruction by its offset: its own, 0 if it has none; and that to which it belongs."""
    own: dict[int, int] = {}
    found: dict[int, int] = {}
    last = code.co_firstlineno
    for start, end, line in code.co_lines():
        last = last if line is None else line
        for offset in range(start, end, 2):
            own[offset], found[offset] = line or 0, last
    return own, found


def _harmless(instructions: "list[Any]", lines: "dict[int, int]") -> "set[int]":
    """Return the offsets of iterations and calls that change nothing, or that are too many to evaluate after each.

    These are calls of some of Python's own functions, loops over a `range`, and the iterations of a comprehension.
    """
    by_line: dict[int, list[Any]] = {}
    for each in instructions:
        by_line.setdefault(lines.get(each.offset, 0), []).append(each)
    found: set[int] = set()
    for in_line in by_line.values():
        calls = [each for each in in_line if each.opname.startswith("CALL") and "INTRINSIC" not in each.opname]
        named = [each for each in in_line if each.opname == "LOAD_GLOBAL" and "NULL" in each.argrepr]
        has_own = len(calls) == len(named) and all(each.argval in _OWN_FUNCTIONS for each in named)
        if has_own:
            found |= {each.offset for each in calls}
        loops = [each for each in in_line if each.opname in ("FOR_ITER", "GET_ITER")]
        back = {each.argval for each in in_line if each.opname.startswith("JUMP_BACKWARD")}
        is_range = has_own and {each.argval for each in named} == {"range"}
        found |= {each.offset for each in loops if is_range or each.opname == "GET_ITER" or each.offset in back}
    return found


def _assigns(instruction: Any, roots: "set[str]") -> bool:
    """Return whether an instruction assigns to one of these variables, or deletes it."""
    value = instruction.argval
    stored = value if isinstance(value, tuple) else (value,)
    return ("STORE_" in instruction.opname or "DELETE_" in instruction.opname) and not roots.isdisjoint(stored)


def _is_inert(instruction: Any) -> bool:
    if instruction.opname == "BINARY_OP":
        return not instruction.argrepr.endswith("=")
    return bool(instruction.opname.startswith(_INERT))


def contains(code: Any, line: int, name: str) -> bool:
    """Return whether code is the function at a line: the one with this name, or without a name the innermost one."""
    if not code.co_firstlineno <= line <= _last_line(code):
        return False
    if name:
        return bool(code.co_name == name)
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return not any(
        not each.co_name.startswith("<") and each.co_firstlineno <= line <= _last_line(each) for each in inner
    )


def _last_line(code: Any) -> int:
    own = max((line for *_, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    inner = [_last_line(each) for each in code.co_consts if isinstance(each, CodeType)]
    return int(max([own, *inner]))
