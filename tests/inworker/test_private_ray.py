"""The private parts of Ray that agents, and the ways to start one, need.

The message of a failed test names the code that uses the part, the effect on users until it is fixed, and where to
look. test_python_commands.py tests where Ray starts its own processes. tests/ray tests what Ray does with these parts.
"""

import pytest

from support.parts import Part, absent

pytestmark = pytest.mark.core

IMPORTS = """
import os
import ray, ray.actor
import ray.util.debugpy as ray_debugpy, ray.util.rpdb as rpdb
from ray import cloudpickle
from ray._private import function_manager, node, ray_constants, ray_logging, services, state, worker
from ray._private.runtime_env import setup_hook
from ray._raylet import CoreWorker, GlobalStateAccessor
from ray.core.generated import core_worker_pb2, gcs_pb2
from ray.experimental import internal_kv
manager = function_manager.FunctionActorManager
more = len(inspect.signature(manager._make_actor_method_executor).parameters) - 3  # Ray 2.39 has one more.
executor = manager._make_actor_method_executor(None, "step", print, *[True] * more)
modified = ray.actor._modify_class(type("Actor", (), {}))

def fields(message, *names):
    absent = [name for name in names if name not in message.DESCRIPTOR.fields_by_name]
    return not absent or f"{message.DESCRIPTOR.name} has no {', '.join(absent)}"

def hook(runtime_env):
    return {"called": True}

import sys
os.environ["RAY_RUNTIME_ENV_HOOK"] = "for_ray.hook"
sys.modules["for_ray"] = type(sys)("for_ray")
sys.modules["for_ray"].hook = hook
"""

PARTS = {
    "the hook of ray.init": Part(
        "worker._maybe_modify_runtime_env(None, False) == {'called': True} "
        "if hasattr(worker, '_maybe_modify_runtime_env') else source(worker.init, 'ENV_HOOK in os.environ')",
        "driver_setup.DriverSetup.wrap_init",
        "A driver says that its workers cannot be debugged. See ray.init in ray/_private/worker.py.",
    ),
    "the name of an event loop's thread": Part(
        "b'AsyncIO Thread: ' in open(__import__('ray._raylet')._raylet.__file__, 'rb').read()",
        "coroutines.waiting_coroutines",
        "A pause shows an asynchronous actor with uvloop as idle. See python/ray/_raylet.pyx, threading.Thread.",
    ),
    "the methods that submit calls": Part(
        "source(ray.remote_function.RemoteFunction._remote, 'submit_task') "
        "and source(ray.actor.ActorHandle._actor_method_call, 'submit_actor_task') "
        "and source(ray.actor.ActorClass._remote, 'create_actor')",
        "call_sites.SUBMITTING",
        "Step Into does not follow a call: it steps over the line. See ray/remote_function.py and ray/actor.py.",
    ),
    "the function of a call": Part(
        "source(ray.remote_function.RemoteFunction.__init__, 'self._function =', 'self._function_name =') "
        "and issubclass(modified, ray.remote(type('Actor', (), {})).__ray_metadata__.modified_class.__mro__[-1])",
        "followed_calls.describe",
        "Step Into does not follow a task or the creation of an actor. See ray/remote_function.py and ray/actor.py.",
    ),
    "the code that later workers load": Part(
        "has(function_manager, 'make_function_table_key', 'KV_NAMESPACE_FUNCTION_TABLE', 'pickle_dumps') "
        "and source(manager.export, '\"function\": pickled_function', 'internal_kv_put') "
        "and source(manager.export_actor_class, '\"class\": ', 'internal_kv_put') "
        "and source(ray.remote_function.RemoteFunction._remote, '_last_export_cluster_and_job', '_function_descriptor')"
        " "
        "and source(ray.actor.ActorClass._remote, 'last_export_cluster_and_job', 'actor_creation_function_descriptor')",
        "ray_exports.export_again",
        "After a reload, workers that start later run the old code. See ray/_private/function_manager.py, export.",
    ),
    "the method that takes results": Part(
        "source(worker.get, 'worker.get_objects(')",
        "remote_results.GET",
        "Step Out of a call does not stop the caller. See `get` in ray/_private/worker.py.",
    ),
    "the function that awaits results": Part(
        "b'wrap_future' in open(__import__('ray._raylet')._raylet.__file__, 'rb').read()",
        "remote_results.WRAP",
        "Step Out of a call does not stop a caller that awaits it. See ObjectRef.as_future in object_ref.pxi.",
    ),
    "the process of an actor": Part(
        "(hasattr(state.state, '_connect_and_get_accessor') or hasattr(state.state, '_check_connected')) "
        "and fields(gcs_pb2.ActorTableData, 'address', 'pid')",
        "followed_calls.actor_process",
        "Step Into does not follow a method if the program is not prepared. See ray/_private/state.py.",
    ),
    "the id of the task that runs": Part(
        "has(__import__('ray._raylet')._raylet, 'async_task_id') "
        "and has(type(worker.global_worker), 'current_task_id') "
        "and hasattr(ray.TaskID, 'for_actor_creation_task')",
        "call_sites.current_task, call_sites.task_of",
        "Step Into waits until the call has ended. See ray/runtime_context.py, get_task_id.",
    ),
    "the hook for uv run": Part(
        "not hasattr(ray_constants, 'RAY_ENABLE_UV_RUN_RUNTIME_ENV') or callable(__import__('importlib').import_module("
        "'ray._private.runtime_env.uv_runtime_env_hook')._get_uv_run_cmdline)",
        "driver_setup._uv_is_used",
        "A driver of `uv run` says that its workers cannot be debugged. See ray/_private/ray_constants.py.",
    ),
    "the setup hook of workers": Part(
        "ray_constants.WORKER_PROCESS_SETUP_HOOK_ENV_VAR == '__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR' "
        "and source(setup_hook, 'worker_process_setup_hook', '__name__')",
        "driver_setup.SETUP_HOOK_VARIABLE, raydap prepare",
        "A program whose job has a setup hook ends, or a prepared cluster has no agents. See setup_hook.py.",
    ),
    "the job of a driver": Part(
        "worker.RAY_JOB_CONFIG_JSON_ENV_VAR == 'RAY_JOB_CONFIG_JSON_ENV_VAR'",
        "job_start.JOB_CONFIG, driver_setup._job_has_hook",
        "A submitted program says that raydap cannot debug its job, and runs. See job_supervisor.py.",
    ),
    "the global worker": Part(
        "has(worker.global_worker, 'node', 'mode', 'core_worker', 'function_actor_manager') and has(type("
        "worker.global_worker), 'worker_id', 'connected', 'node_ip_address', 'debugger_port', 'set_debugger_port', "
        "'worker_paused_by_debugger')",
        "driver_agent.start_beside_ray, driver_agent.join_session, agent.adapter_port, injected_agent.py, relisten.py",
        "A worker says that raydap cannot debug it, and continues. See the class Worker in ray/_private/worker.py.",
    ),
    "the folder of sockets": Part(
        "has(node.Node, 'get_session_dir_path') and source(node.Node, '\"sockets\"')",
        "driver_agent.start_beside_ray, relay_actor.sockets_folder, raylets.py",
        "A process says that raydap cannot debug it, and continues. See Node._init_temp in ray/_private/node.py.",
    ),
    "identities": Part(
        "has(ray.runtime_context.RuntimeContext, 'get_worker_id', 'get_node_id') and has(ray, 'SCRIPT_MODE')",
        "driver_agent.start_beside_ray",
        "A process says that raydap cannot debug it, and continues. See ray/runtime_context.py.",
    ),
    "breakpoint()": Part(
        "source(ray_debugpy.set_trace, '= _try_import_debugpy()', 'if not debugpy:', 'breakpoint_uuid') "
        "and has(ray_debugpy, 'debugger_port_lock') and rpdb.__name__ == 'ray.util.rpdb'",
        "breakpoint_hooks.override_rays_breakpoint, forked_children.py, relisten.py",
        "ray.util.rpdb.set_trace() asks for an adapter beside an agent. See ray/util/debugpy.py, set_trace.",
    ),
    "the post mortem": Part(
        "callable(ray_debugpy._debugpy_excepthook) and source(ray_debugpy._post_mortem, 'set_trace(') "
        "and source(ray_debugpy._debugpy_excepthook, 'stop_on_unhandled_exception(') "
        "and source(rpdb._post_mortem, 'ray_debugpy._post_mortem()')",
        "breakpoint_hooks.override_rays_breakpoint, post_mortem.PostMortem, raydap_calls.skip_post_mortem_alone",
        "A worker with an agent says that it cannot stop for its post mortem. See ray/util/debugpy.py.",
    ),
    "executors of methods": Part(
        "takes(manager._make_actor_method_executor, 'method_name', 'method') and has(executor, 'name', 'method') "
        "and executor.__name__ == 'actor_method_executor' "
        "and source(manager, 'self._make_actor_method_executor(')",
        "actor_threads.trace_actor_threads, stack_reader._read_frames",
        "Before Python 3.12 a worker says that idle threads of threaded actors do not stop. See function_manager.py.",
    ),
    "the tables of executors": Part(
        "'function' in function_manager.FunctionExecutionInfo._fields and ("
        "source(manager.__init__, 'self._function_execution_info') is True or source(manager, 'execution_infos'))",
        "actor_threads.replace_executors",
        "Before Python 3.12 idle threads do not stop in an actor that had no agent at first. See function_manager.py.",
    ),
    "the table of actors": Part(
        "has(state.state, '_connect_and_get_accessor') and has(GlobalStateAccessor, 'get_actor_table') "
        "and fields(gcs_pb2.ActorTableData, 'actor_id', 'owner_address', 'job_id', 'function_descriptor', 'address')",
        "actor_calls._read_actors",
        "raydap says that it cannot call an actor of this Ray, and takes gdb. See ray/_private/state.py, actor_table.",
    ),
    "a handle of any actor": Part(
        "fields(core_worker_pb2.ActorHandle, 'actor_id', 'owner_address', 'creation_job_id', "
        "'actor_creation_task_function_descriptor', 'actor_cursor') "
        "and has(CoreWorker, 'deserialize_and_register_actor_handle') and has(manager, 'load_actor_class') "
        "and has(modified, '__ray_call__')",
        "actor_calls._handle",
        "raydap says that it cannot call an actor of this Ray, and takes gdb. See _raylet.pyx, make_actor_handle.",
    ),
    "what ray.get and ray.wait wait for": Part(
        "takes(type(worker.global_worker).get_objects, 'object_refs', 'timeout') and "
        "takes(inspect.unwrap(worker.wait), 'ray_waitables', 'num_returns', 'timeout') "
        "and source(worker, 'else 10**6') and has(ray.ObjectRef, 'task_id', 'binary', 'hex') "
        "and ray.ObjectRef.from_random().size() == 28",
        "thread_waits.Waits, object_waits.object_wait, analysis/waits/thread_nodes._call_of_ray",
        "raydap hang does not show what a thread waits for. See get and wait in ray/_private/worker.py.",
    ),
    "the task of a coroutine": Part(
        "hasattr(__import__('ray._raylet')._raylet, 'async_task_id') and "
        "b'object_ref' in open(__import__('ray._raylet')._raylet.__file__, 'rb').read()",
        "coroutine_waits.ray_task, coroutine_waits._collect",
        "raydap hang takes coroutines for code of no task, or does not show what they await. See _raylet.pyx, "
        "async_task_id, and includes/object_ref.pxi, ObjectRef.future.",
    ),
    "functions by value": Part(
        "has(cloudpickle, 'register_pickle_by_value')",
        "injection_script._by_gdb, relay_process.py",
        "raydap does not reach other nodes. See ray/cloudpickle.",
    ),
    "the breakpoints of the old debugger": Part(
        "ray_constants.KV_NAMESPACE_PDB == b'ray_pdb' "
        "and source(internal_kv, '.internal_kv_keys(', '.internal_kv_get(', '.internal_kv_del(') is True "
        "and source(rpdb._connect_ray_pdb, '\"RAY_PDB_{}\"', '\"pdb_address\"', '\"worker_id\"', '\"traceback\"', "
        "'\"lineno\"')",
        "legacy_breakpoints, legacy_process, gcs_keys",
        "`raydap ps`, `debug` and `doctor` do not list what waits for Ray's old debugger. See ray/util/rpdb.py.",
    ),
    "the old debugger's pdb": Part(
        "has(rpdb._RemotePdb, 'do_continue', 'do_quit', 'do_remote', 'do_get', 'post_mortem') is True "
        "and source(rpdb._RemotePdb, 'self.handle = ', 'self.handle.connection.close()', '\"RAY_PDB_CONTINUE_{}\"') "
        "is True and source(rpdb._LF2CRLF_FileWrapper, 'self.connection = connection')",
        "safe_pdb, pdb_connection, pdb_commands",
        "`raydap debug` says that only `continue` leaves a pdb without ending its task. See ray/util/rpdb.py.",
    ),
    "the options of a raylet": Part(
        "source(services.start_raylet, '--python_worker_command=', '--session_dir=', '--gcs-address=', "
        "'--ray-debugger-external=', '--session-name=', '--node_ip_address=', '--node_id=')",
        "raylets.py and all that use it",
        "`raydap doctor` does not tell the versions on the nodes. See ray/_private/services.py, start_raylet.",
    ),
    "the names of log files": Part(
        "source(ray_logging.get_worker_log_file_name, '= \"worker\"', '{worker_name}-{ray.get_runtime_context()"
        ".get_worker_id()}-')",
        "gdb_injection.is_worker",
        "A process that has the number of a worker that has ended may be stopped for a moment. See default_worker.py.",
    ),
}


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return dict(absent(IMPORTS, PARTS.values()))


@pytest.mark.parametrize("name", PARTS)
def test_ray_has(found: dict[str, str], name: str) -> None:
    part = PARTS[name]
    assert not found[part.check], f"{part.user} needs it: {found[part.check]}. {part.remedy}"
