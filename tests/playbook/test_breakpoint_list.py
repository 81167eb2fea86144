"""raydap/breakpoints lists the breakpoints of all clients (docs/requests.md)."""

from support.playbook import Play


def test_breakpoints_of_all_clients_with_their_texts(play: Play) -> None:
    editor = play.session()
    other = play.joined()
    where = {"path": "/app/train.py"}
    spec = {"line": 7, "condition": "x > 1", "hitCondition": "3"}
    editor.request("setBreakpoints", source=where, breakpoints=[spec, {"line": 9, "logMessage": "{x}"}])
    editor.request("setFunctionBreakpoints", breakpoints=[{"name": "step"}])
    other.inbox.clear()
    found = other.request("raydap/breakpoints")["breakpoints"]
    none = {"condition": "", "hitCondition": "", "logMessage": "", "function": "", "verified": False}
    message = "No worker has set this breakpoint yet; raydap sets it in every worker that it attaches to."
    first, second, third = ({**each, "id": 0} for each in found)
    line = {"id": 0, "path": "/app/train.py", "message": message}
    assert first == {**none, **line, **spec}
    assert second == {**none, **line, "line": 9, "logMessage": "{x}"}
    assert third == {**none, **line, "path": "", "line": 0, "function": "step"}
    assert len({each["id"] for each in found}) == 3
    editor.inbox.clear()


def test_a_worker_that_has_the_code_verifies_it(play: Play) -> None:
    client = play.session()
    play.attached("w1")
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    (found,) = client.request("raydap/breakpoints")["breakpoints"]
    assert (found["verified"], found["message"]) == (True, "")
    client.inbox.clear()
