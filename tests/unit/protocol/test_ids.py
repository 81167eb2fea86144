from raydap.protocol.id_fields import (
    ARGUMENTS,
    COMMANDS,
    EVENT_NAMES,
    EVENTS,
    RESPONSES,
    REVERSE_REQUESTS,
    RULES,
    Kind,
    Ref,
)
from support import generate_messages


def test_ids_of_every_shape_have_their_rule() -> None:
    assert RULES["StackFrame"] == {"id": Kind.FRAME, "moduleId": Kind.MODULE, "source": Ref("Source")}
    assert RULES["StoppedEventBody"] == {"threadId": Kind.THREAD, "hitBreakpointIds": (Kind.BREAKPOINT, list)}
    assert RULES["VariablesResponseBody"] == {"variables": Ref("Variable", is_list=True)}
    assert RULES["Source"] == {"sourceReference": Kind.SOURCE, "sources": Ref("Source", is_list=True)}


def test_the_two_target_ids_are_told_apart() -> None:
    assert RULES["GotoArguments"]["targetId"] is RULES["GotoTarget"]["id"] is Kind.GOTO_TARGET
    assert RULES["StepInArguments"]["targetId"] is RULES["StepInTarget"]["id"] is Kind.STEP_IN_TARGET


def test_what_only_looks_like_an_id_has_no_rule() -> None:
    assert not {"Message", "CancelArguments", "ProcessEventBody", "RunInTerminalResponseBody"} & set(RULES)
    assert "memoryReference" not in RULES["Variable"]


def test_every_rule_leads_to_an_id() -> None:
    """Every listed type contains ids, and every reference leads to a listed type."""
    leads = {name for name, rules in RULES.items() if any(not isinstance(rule, Ref) for rule in rules.values())}
    for _ in RULES:
        leads |= {
            n for n, rules in RULES.items() if any(isinstance(r, Ref) and r.type_name in leads for r in rules.values())
        }
    assert leads == set(RULES)
    assert {r.type_name for rules in RULES.values() for r in rules.values() if isinstance(r, Ref)} <= set(RULES)
    assert {*ARGUMENTS.values(), *RESPONSES.values(), *EVENTS.values()} <= set(RULES)


def test_every_kind_but_the_one_of_later_versions_is_used() -> None:
    used = {
        r if isinstance(r, Kind) else r[0] for rules in RULES.values() for r in rules.values() if not isinstance(r, Ref)
    }
    assert used == set(Kind) - {Kind.LOCATION}


def test_the_names_are_those_of_the_schema() -> None:
    definitions = generate_messages.load()
    requests = {
        d["allOf"][1]["properties"]["command"]["enum"][0]
        for n, d in definitions.items()
        if n[:-7] and n.endswith("Request")
    }
    events = {
        d["allOf"][1]["properties"]["event"]["enum"][0]
        for n, d in definitions.items()
        if n[:-5] and n.endswith("Event")
    }
    assert {"runInTerminal", "startDebugging"} == REVERSE_REQUESTS
    assert requests - REVERSE_REQUESTS == COMMANDS
    assert events == EVENT_NAMES
    assert set(ARGUMENTS) | set(RESPONSES) <= COMMANDS
    assert set(EVENTS) <= EVENT_NAMES
