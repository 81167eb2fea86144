import jsonschema
import pytest

from raydap.core.bridge import REQUESTS
from raydap.core.policy import CAPABILITIES, LAUNCH_CAPABILITIES, POLICY, Mode
from raydap.protocol import generate
from raydap.protocol.ids import ARGUMENTS, COMMANDS, RULES

DEFINITIONS = generate.load()


def test_every_command_is_one_of_the_protocol() -> None:
    assert {command for command in POLICY if not command.startswith("raydap/")} <= COMMANDS


@pytest.mark.parametrize("command", POLICY)
def test_every_command_is_handled_or_routed(command: str) -> None:
    entry = POLICY[command]
    # `source` is routed too, except for files to which the bridge itself gave the reference.
    assert (command in REQUESTS) == (entry.mode is not Mode.ROUTE or command == "source")
    leads_to_a_worker = entry.by is not None or entry.else_looked_at
    assert leads_to_a_worker == (entry.mode in (Mode.ROUTE, Mode.RESUME))
    assert entry.patience > 0


@pytest.mark.parametrize("command", [command for command, entry in POLICY.items() if entry.by is not None])
def test_the_argument_that_names_the_worker_is_one_the_schema_has(command: str) -> None:
    by = POLICY[command].by
    assert by is not None
    name, kind = by
    assert RULES[ARGUMENTS[command]][name] is kind


ALL_CAPABILITIES = {**CAPABILITIES, **LAUNCH_CAPABILITIES}


def test_capabilities_are_those_of_the_schema() -> None:
    assert set(ALL_CAPABILITIES) <= set(DEFINITIONS["Capabilities"]["properties"])
    schema = {"$ref": "#/definitions/Capabilities", "definitions": DEFINITIONS}
    assert list(jsonschema.Draft7Validator(schema).iter_errors(ALL_CAPABILITIES)) == []


def test_what_needs_a_launched_program_is_not_promised_to_all() -> None:
    assert not set(CAPABILITIES) & set(LAUNCH_CAPABILITIES)


# A capability that promises a request; the schema's names do not lead to all of them.
PROMISES = {
    "supportsConfigurationDoneRequest": "configurationDone",
    "supportsFunctionBreakpoints": "setFunctionBreakpoints",
    "supportsConditionalBreakpoints": "setBreakpoints",
    "supportsHitConditionalBreakpoints": "setBreakpoints",
    "supportsLogPoints": "setBreakpoints",
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
    assert PROMISES[capability] in POLICY


def test_what_has_a_capability_of_its_own_and_is_not_offered_is_not_supported() -> None:
    requests = {
        name.removeprefix("supports").removesuffix("Request")
        for name in DEFINITIONS["Capabilities"]["properties"]
        if name.startswith("supports") and name.endswith("Request") and name not in ALL_CAPABILITIES
    }
    assert not {name[:1].lower() + name[1:] for name in requests} & set(POLICY)
