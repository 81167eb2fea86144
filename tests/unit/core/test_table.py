import jsonschema
import pytest

from raydap.core.model.client import ClientRole
from raydap.core.requests.capabilities import CAPABILITIES, HUB_CAPABILITIES, LAUNCH_CAPABILITIES
from raydap.core.requests.table import ALL_ROLES, DEBUGGERS, TABLE, TRUSTED, Mode
from raydap.protocol.id_fields import ARGUMENTS, COMMANDS, RULES
from raydap.protocol.raydap_messages import REQUESTS
from support import generate_messages

DEFINITIONS = generate_messages.load()


def test_every_command_is_one_of_the_protocol() -> None:
    assert {command for command in TABLE if not command.startswith("raydap/")} <= COMMANDS


@pytest.mark.parametrize("command", TABLE)
def test_every_command_is_handled_or_routed(command: str) -> None:
    row = TABLE[command]
    # These are routed, but have a handler as well: the bridge answers for some files, reports a name after a stack, and
    # refuses an invalid line or a stop without an exception.
    checked = ("source", "stackTrace", "gotoTargets", "exceptionInfo", "evaluate")
    assert (row.handler is not None) == (row.mode is not Mode.ROUTE or command in checked)
    assert (row.route is not None) == (row.mode in (Mode.ROUTE, Mode.RESUME))
    assert row.timeout_s > 0


def test_raydaps_own_requests_have_types_and_no_others() -> None:
    assert {command: row.types for command, row in TABLE.items() if row.types is not None} == REQUESTS


@pytest.mark.parametrize(
    "command", [command for command, row in TABLE.items() if row.route is not None and row.route.argument]
)
def test_the_argument_that_names_the_worker_is_one_the_schema_has(command: str) -> None:
    route = TABLE[command].route
    assert route is not None
    assert RULES[ARGUMENTS[command]][route.argument] is route.kind


def test_what_changes_anything_is_not_for_observers() -> None:
    """Editors send breakpoints unasked, so observers get answers, but set none. docs/protocol.md has the whole list."""
    changing = {command for command, row in TABLE.items() if row.mode in (Mode.RESUME, Mode.FANOUT)}
    changing -= {"disconnect", "setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"}
    changing -= {"setDataBreakpoints"}
    changing |= {
        "launch",
        "terminate",
        "restart",
        "evaluate",
        "setVariable",
        "setExpression",
        "completions",
        "raydap/sets",
    }
    assert {command for command, row in TABLE.items() if row.who == DEBUGGERS} == changing
    assert all(row.who >= TRUSTED for command, row in TABLE.items() if command not in changing)


def test_a_client_without_token_or_ticket_may_send_what_the_table_names() -> None:
    more = {command: row.who - TRUSTED for command, row in TABLE.items() if row.who - TRUSTED}
    unproven = ALL_ROLES - TRUSTED
    assert more == {"initialize": unproven, "disconnect": unproven, "attach": {ClientRole.JOINING}}


ALL_CAPABILITIES = {**CAPABILITIES, **LAUNCH_CAPABILITIES}
ALL_WITH_HUB = {**ALL_CAPABILITIES, **HUB_CAPABILITIES}


def test_capabilities_are_those_of_the_schema() -> None:
    assert set(ALL_WITH_HUB) <= set(DEFINITIONS["Capabilities"]["properties"])
    schema = {"$ref": "#/definitions/Capabilities", "definitions": DEFINITIONS}
    assert list(jsonschema.Draft7Validator(schema).iter_errors(ALL_WITH_HUB)) == []


def test_what_needs_a_launched_program_is_not_promised_to_all() -> None:
    assert not set(CAPABILITIES) & set(LAUNCH_CAPABILITIES)


# Capabilities that promise a request. The schema's names do not lead to all of the requests.
PROMISES = {
    "supportsConfigurationDoneRequest": "configurationDone",
    "supportsFunctionBreakpoints": "setFunctionBreakpoints",
    "supportsConditionalBreakpoints": "setBreakpoints",
    "supportsHitConditionalBreakpoints": "setBreakpoints",
    "supportsLogPoints": "setBreakpoints",
    "supportsDataBreakpoints": "setDataBreakpoints",
    "supportsExceptionInfoRequest": "exceptionInfo",
    "supportsExceptionOptions": "setExceptionBreakpoints",
    "supportsExceptionFilterOptions": "setExceptionBreakpoints",
    "supportsEvaluateForHovers": "evaluate",
    "supportsClipboardContext": "evaluate",
    "supportsDelayedStackTraceLoading": "stackTrace",
    "supportsValueFormattingOptions": "variables",
    "supportsSingleThreadExecutionRequests": "continue",
    "supportsSetVariable": "setVariable",
    "supportsSetExpression": "setExpression",
    "supportsCompletionsRequest": "completions",
    "supportsStepInTargetsRequest": "stepInTargets",
    "supportsGotoTargetsRequest": "gotoTargets",
    "supportsModulesRequest": "modules",
    "supportsLoadedSourcesRequest": "loadedSources",
    "supportsBreakpointLocationsRequest": "breakpointLocations",
    "supportsCancelRequest": "cancel",
    "supportsTerminateRequest": "terminate",
    "supportsRestartRequest": "restart",
    "exceptionBreakpointFilters": "setExceptionBreakpoints",
}


@pytest.mark.parametrize("capability", ALL_CAPABILITIES)
def test_no_capability_promises_what_is_not_supported(capability: str) -> None:
    assert PROMISES[capability] in TABLE


def test_what_has_a_capability_of_its_own_and_is_not_offered_is_not_supported() -> None:
    requests = {
        name.removeprefix("supports").removesuffix("Request")
        for name in DEFINITIONS["Capabilities"]["properties"]
        if name.startswith("supports") and name.endswith("Request") and name not in ALL_CAPABILITIES
    }
    assert not {name[:1].lower() + name[1:] for name in requests} & set(TABLE)
