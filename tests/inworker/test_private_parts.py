"""The private parts of debugpy and pydevd that the agent and the tuning need, in the oldest and newest debugpy.

The message of a failed test names the code that uses the part, the effect on users until it is fixed, and where to
look. tests/inworker/test_missing_parts.py shows what happens without the main parts. Ray's parts are in
test_private_ray.py, those for forked children in test_agent_children.py.
"""

from pathlib import Path

import pytest

from support.parts import Part, absent

pytestmark = pytest.mark.core

IMPORTS = """
import asyncio, sys, threading
import debugpy, debugpy.server.api
import pydevd, pydevd_tracing
from _pydev_bundle import pydev_monkey
from _pydevd_bundle import (
    pydevd_api, pydevd_breakpoints, pydevd_comm, pydevd_comm_constants, pydevd_constants, pydevd_io,
    pydevd_net_command, pydevd_net_command_factory_json, pydevd_thread_lifecycle, pydevd_utils,
    pydevd_additional_thread_info, pydevd_daemon_thread,
)
from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
debugger = pydevd.PyDB(set_as_global=False)
factory = debugger.cmd_factory
json_factory = pydevd_net_command_factory_json.NetCommandFactoryJson()
from _pydevd_bundle.pydevd_suspended_frames import _FramesTracker
monitoring = getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False)
if monitoring:
    from _pydevd_sys_monitoring import pydevd_sys_monitoring
info = pydevd_additional_thread_info.set_additional_thread_info(threading.current_thread())
ours, theirs = (threading.Thread(target=threading.Event().wait, daemon=True) for _ in range(2))
ours.pydev_do_not_trace = ours.is_pydev_daemon_thread = True
ours.start(), theirs.start()
from raydap.inworker.thread_tracers import is_of_debugger
command = pydevd_net_command.NetCommand(1, 0, {"type": "event"}, is_json=True)
"""

PARTS = {
    "start_client": Part(
        "takes(pydevd.start_client, 'host', 'port') and source(pydevd, ' start_client(')",
        "agent_session.Session._start",
        "A process reports that raydap cannot start debugpy, and continues. Find how PyDB.connect makes its socket.",
    ),
    "its sleep": Part(
        "has(pydevd.time, 'sleep')",
        "agent_session.Session._start, pydevd_lifetime.without_sleep",
        "A process reports that raydap cannot start debugpy, and continues. Leave out without_sleep.",
    ),
    "the lines of breakpoints": Part(
        "takes(pydevd_api._get_code_lines, 'code') and source(pydevd_api, 'sorted(_get_code_lines(')",
        "reloaded_files._use_new_lines",
        "After a reload, breakpoints move where a worker has an older copy of the file. See PyDevdAPI.add_breakpoint.",
    ),
    "settrace": Part(
        "takes(pydevd.settrace, 'host', 'port', 'suspend', 'wait_for_ready_to_run', 'block_until_connected', "
        "'dont_trace_end_patterns', 'patch_multiprocessing', 'notify_stdin', 'stop_at_frame', "
        "'trace_only_current_thread')",
        "agent_session.Session._start, forked_children.stop_caller",
        "A process reports that raydap cannot start debugpy, and continues. Give settrace what it takes now.",
    ),
    "function breakpoints": Part(
        "has(debugger, 'function_breakpoint_name_to_breakpoint') and has(pydevd_breakpoints, 'FunctionBreakpoint') "
        "and has(debugger, 'handle_breakpoint_condition')",
        "traced_files.trace_files_of_program",
        "Before Python 3.12, Step Into does not follow calls of generators and coroutines. See FunctionBreakpoint.",
    ),
    "targets of steps": Part(
        "has(info, 'target_id_to_smart_step_into_variant', 'pydev_smart_step_into_variants') and callable(__import__("
        "'importlib').import_module('_pydevd_bundle.pydevd_bytecode_utils').get_smart_step_into_variant_from_frame_offset)",
        "followed_calls.FollowedCalls._chosen",
        "A step to a chosen call of Ray is refused. See pydevd_comm.internal_get_step_in_targets_json.",
    ),
    "commands of steps": Part(
        "has(info, 'pydev_original_step_cmd', 'pydev_step_cmd', 'pydev_step_stop') "
        "and has(pydevd_comm_constants, 'CMD_STEP_OVER', 'CMD_STEP_INTO', 'CMD_WRITE_TO_CONSOLE')",
        "own_stops.py, submitting_lines.send_event",
        "Steps across .remote() do not stop. See PyDBAdditionalThreadInfo.",
    ),
    "evaluations at hits": Part(
        "takes(debugger.handle_breakpoint_condition, 'new_frame') "
        "and takes(debugger.handle_breakpoint_expression, 'new_frame')",
        "thread_control.dropping",
        "On Python 3.12 what a condition has read stays alive until its function returns. Find what evaluates now.",
    ),
    "the setup of a session": Part(
        "has(pydevd, 'SetupHolder', 'get_global_debugger', 'stoptrace', '_is_attached', 'skip_subprocess_arg_patch') "
        "and has(pydevd.SetupHolder, 'setup')",
        "agent_session.Session._start, pydevd_lifetime.stop, relisten._listen_again",
        "Sessions after the first one fail, or a worker is not left. See what pydevd._locked_settrace keeps.",
    ),
    "the mark of a client": Part(
        "has(debugger.authentication, 'access_token', 'login', 'logout', 'is_authenticated')",
        "pydevd_lifetime.prepare, relisten.stop_for_clients_only",
        "A process reports that raydap cannot start debugpy. See the class _Authentication in pydevd.py.",
    ),
    "the count of changes": Part(
        "isinstance(debugger.mtime, int)",
        "pydevd_lifetime.prepare, relisten._listen_again",
        "Breakpoints of an earlier session come back. See what PyDB.on_breakpoints_changed raises.",
    ),
    "ignored exits": Part(
        "has(debugger, 'ignore_system_exit_code', '_ignore_system_exit_codes')",
        "pydevd_lifetime.prepare",
        "`sys.exit(3)` stops as a failure. See PyDB.ignore_system_exit_code.",
    ),
    "the threads that it keeps": Part(
        "isinstance(pydevd_constants._thread_id_to_thread_found, dict)",
        "pydevd_lifetime.forget_threads",
        "Each session leaves its threads and what they have read in memory. See pydevd_constants.get_thread_id.",
    ),
    "the threads of a session": Part(
        "has(debugger, 'reader', 'writer', 'py_db_command_thread', 'check_alive_thread', "
        "'_on_configuration_done_event', 'dispose_and_kill_all_pydevd_threads', 'pydb_disposed') "
        "and has(pydevd_comm.ReaderThread, 'do_kill_pydev_thread')",
        "agent_session.Session.run, pydevd_lifetime.end_threads, relisten.py",
        "A process reports that raydap could not undo all its changes to it. See PyDB.start_auxiliary_daemon_threads.",
    ),
    "tracing of all threads": Part(
        "takes(pydevd_tracing.set_trace_to_threads, 'tracing_func', 'thread_idents', 'create_dummy_thread') "
        "and has(pydevd_tracing, 'restore_sys_set_trace_func')",
        "pydevd_lifetime.import_debugpy and stop_tracing",
        "Before Python 3.12 a worker stays slow after raydap has left. See pydevd_tracing.py.",
    ),
    "events of Python 3.12": Part(
        "not monitoring or has(pydevd_sys_monitoring, 'update_monitor_events', 'restart_events', 'start_monitoring', "
        "'stop_monitoring', 'reset_thread_local_info')",
        "own_stops._stop_at, thread_control._keep_events, post_mortem.untraced",
        "A step after breakpoint() is lost, a pause is lost, or a post mortem shows Ray. See pydevd_sys_monitoring.py.",
    ),
    "the thread of an event loop": Part(
        "asyncio.new_event_loop()._thread_id is None",
        "coroutines.waiting_coroutines",
        "A pause shows an asynchronous actor as idle. See asyncio/base_events.py, run_forever.",
    ),
    "frames that continue": Part(
        "not monitoring or has(pydevd_sys_monitoring, 'enable_code_tracing')",
        "resumed_frames.py",
        "A process reports that raydap cannot start debugpy. See PyDB.set_trace_for_frame_and_parents.",
    ),
    "stops": Part(
        "takes(debugger.set_suspend, 'thread', 'stop_reason') and takes(debugger.do_wait_suspend, 'thread', 'frame', "
        "'event', 'arg') and takes(debugger._do_wait_suspend, 'thread') "
        "and has(debugger, 'enable_tracing', 'disable_tracing', 'set_additional_thread_info') "
        "and has(pydevd_comm_constants, 'CMD_SET_BREAK', 'CMD_ADD_EXCEPTION_BREAK', 'CMD_STEP_CAUGHT_EXCEPTION', "
        "'CMD_THREAD_SUSPEND', 'CMD_RETURN') and has(debugger, 'is_files_filter_enabled') "
        "and takes(debugger.apply_files_filter, 'frame', 'original_filename', 'force_check_project_scope')",
        "own_stops._stop_at, thread_control.py, relisten.stop_for_clients_only, stack_reader._callers",
        "breakpoint() says that it cannot stop, and the worker is attached without our overrides. See pydevd.settrace.",
    ),
    "messages of lines": Part(
        "takes(json_factory.make_io_message, 'msg', 'ctx') and has(debugger, 'writer', 'cmd_factory')",
        "line_hits.line_hits",
        "`raydap report` says too few hits of a breakpoint. See how pydevd sends the message of a logpoint.",
    ),
    "frames by their ids": Part(
        "has(debugger.suspended_frames_manager, '_thread_id_to_tracker') and source(_FramesTracker, "
        "'_frame_id_to_frame[') and has(BaseSchema, '_dap_id_to_obj_id')",
        "frame_variables.py",
        "raydap/stacks has no local variables of stopped threads. See _FramesTracker.track.",
    ),
    "threads by their ids": Part(
        "has(BaseSchema, '_dap_id_to_obj_id', '_translate_id_to_dap') and has(pydevd_constants, 'get_thread_id', "
        "'STATE_RUN', 'STATE_SUSPEND') and has(pydevd_thread_lifecycle, 'pydevd_find_thread_by_id', "
        "'mark_thread_suspended', 'internal_run_thread') and has(pydevd_utils, 'get_non_pydevd_threads') "
        "and has(pydevd_comm, 'resume_threads') and takes(pydevd_api.PyDevdAPI.request_suspend_thread, 'py_db', "
        "'thread_id')",
        "thread_control.py, blocked_threads.py, pydevd_lifetime.resume_all",
        "Single threads are neither resumed nor paused. See PyDevdAPI.request_resume_thread.",
    ),
    "what a step is": Part(
        "has(info, 'pydev_original_step_cmd', 'pydev_step_cmd', 'pydev_step_stop', 'pydev_state', 'suspend_type')",
        "thread_control._STEP",
        "A step that an exception interrupts is lost. See PyDBAdditionalThreadInfo.",
    ),
    "reports of stops": Part(
        "has(debugger, 'multi_threads_single_notification') and has(type(json_factory), 'make_thread_suspend_message') "
        "and takes(json_factory.make_thread_suspend_single_notification, 'py_db', 'thread_id', 'thread', "
        "'stop_reason')",
        "changes.Changes.enter, thread_control._report, blocked_threads._report_pause",
        "Stops of several threads are reported as one. See NetCommandFactoryJson.",
    ),
    "commands": Part(
        "takes(debugger.post_method_as_internal_command, 'thread_id', 'method') "
        "and has(pydevd_comm, 'internal_evaluate_expression_json') and has(command, 'as_dict', '_as_bytes', 'id') "
        "and has(pydevd_comm.WriterThread, 'add_command')",
        "answers.py, message_limit.py, file_queries.py, blocked_threads.py",
        "A request that fails has no answer, and long messages end the adapter. See pydevd_net_command.NetCommand.",
    ),
    "the reader": Part(
        "source(pydevd_comm.ReaderThread, 'process_net_command_json') and has(pydevd_comm.ReaderThread, 'run')",
        "answers.refuse_bad_requests",
        "A request with a wrong argument ends the session. See ReaderThread.process_command.",
    ),
    "exceptions": Part(
        "has(debugger, 'stop_on_unhandled_exception', 'do_stop_on_unhandled_exception', 'apply_files_filter', "
        "'exclude_exception_by_filter', 'in_project_scope') and has(pydevd_breakpoints, 'stop_on_unhandled_exception')",
        "post_mortem.PostMortem",
        "Ray's post mortem shows Ray's own frames. See ray/util/debugpy.py, _debugpy_excepthook.",
    ),
    "the tag of an exception": Part(
        "not monitoring or any(hasattr(module, 'UnhandledExceptionTag') for name, module in "
        "list(sys.modules.items()) if 'pydevd_sys_monitoring' in name)",
        "post_mortem.keep_exceptions_picklable",
        "A driver cannot unpickle the exceptions of a worker. See _get_unhandled_exception_frame.",
    ),
    "redirected output": Part(
        "has(pydevd_io, 'IORedirector') and source(pydevd_io, ' IORedirector(')",
        "redirected_output.keep_redirectors",
        "A worker may crash while it prints and a client evaluates. See redirect_stream_to_pydb_io_messages_context.",
    ),
    "threads without a debugger": Part(
        "ours not in pydevd_utils.get_non_pydevd_threads() and theirs in pydevd_utils.get_non_pydevd_threads()",
        "agent_threads.AgentThread, injected_agent.start_injected_agent, stack_reader.read_stacks",
        "The agent's own thread is shown to users, and stops at a pause. See pydevd_utils.get_non_pydevd_threads.",
    ),
    "its threads": Part(
        "issubclass(pydevd_comm.ReaderThread, pydevd_daemon_thread.PyDBDaemonThread) "
        "and issubclass(pydevd_daemon_thread.PyDBDaemonThread, threading.Thread) "
        "and 'start' not in vars(pydevd_daemon_thread.PyDBDaemonThread)",
        "pydevd_lifetime.prepare, agent_threads.start_unnoticed",
        "Profilers of the program see pydevd's threads. Find which class these have now.",
    ),
    "the end of tracing": Part(
        "has(pydevd_tracing, 'restore_sys_set_trace_func') and has(pydev_monkey, 'undo_patch_thread_modules')",
        "pydevd_lifetime.prepare, pydevd_lifetime.stop_tracing",
        "Before Python 3.12 raydap cannot leave a process. See pydevd.stoptrace.",
    ),
    "its trace functions": Part(
        "is_of_debugger(debugger.trace_dispatch) and is_of_debugger(pydevd_constants.NO_FTRACE) "
        "and not is_of_debugger(lambda: None)",
        "thread_tracers.is_of_debugger, thread_tracers.ProgramTracers",
        "Before Python 3.12 threads are traced after a session. See in which modules pydevd's trace functions are.",
    ),
    "the adapter's port": Part(
        "debugpy.__version__ == '1.8.0' or has(debugpy.server.api.listen, 'called')",
        "agent.adapter_port, relisten._listen_again",
        "An agent begins beside an adapter of Ray's breakpoint(). See debugpy/server/api.py, listen.",
    ),
    "children": Part(
        "not debugger.get_arg_ppid()",
        "relisten.relisten_when_lost, stuck_adapter.end_stuck_adapter",
        "A forked child listens instead of its parent. See PyDB.get_arg_ppid.",
    ),
    "Python's main thread": Part(
        "has(threading, '_main_thread', '_active', '_active_limbo_lock') and has(threading.main_thread(), '_ident')",
        "light_start.correct_main_thread",
        "After a raydap has come, `threading` takes another thread for the main one. See threading.py, _MainThread.",
    ),
    "Python's JSON in C": Part(
        "has(__import__('_json'), 'make_encoder', 'make_scanner', 'encode_basestring_ascii')",
        "light_start.to_json, sitecustomize.from_json",
        "Each Python with an agent imports json, which takes 10 ms. See json/encoder.py and json/scanner.py.",
    ),
    "Python's compiled files": Part(
        "has(sys.modules['_frozen_importlib_external'], 'cache_from_source', 'MAGIC_NUMBER')",
        "sitecustomize.start_code",
        "A launched program says that raydap cannot debug it, and runs. See importlib/_bootstrap_external.py.",
    ),
}


@pytest.fixture(scope="module")
def found(packages: Path | None) -> dict[str, str]:
    return dict(absent(IMPORTS, PARTS.values(), packages))


@pytest.mark.parametrize("name", PARTS)
def test_pydevd_has(found: dict[str, str], name: str) -> None:
    part = PARTS[name]
    assert not found[part.check], f"{part.user} needs it: {found[part.check]}. {part.remedy}"
