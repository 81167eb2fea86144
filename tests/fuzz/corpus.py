"""Valid or nearly valid inputs, from which the mutations start, and pieces of each format."""

from raydap.core.settings import LaunchSettings

Pieces = tuple[bytes, ...]

ENVELOPES = (
    b'{"seq":1,"type":"request","command":"next","arguments":{"threadId":1000,"granularity":"line"}}',
    b'{"seq":2,"type":"event","event":"output","body":{"category":"stdout","output":"\\udc80 \\u00e9"}}',
    b'{"seq":3,"type":"response","request_seq":7,"success":true,"command":"threads","body":{"threads":[]}}',
    b'{"seq":4,"type":"response","request_seq":8,"success":false,"command":"evaluate","message":"no \\ud83d"}',
    b'{"type":"event","seq":0,"event":"x","body":[1.5,-0,1e5,null,true,NaN,Infinity,{"a":{"b":[[]]}}]}',
)
JSON: Pieces = (b'"seq":', b'"type":', b'"body":', b'"request_seq":', b'"success":', b'"command":', b'"arguments":')
JSON += (b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"false", b"NaN", b"-Infinity")
JSON += (
    b"\\udc80",
    b"\\ud83d\\ude00",
    b"\xed\xb2\x80",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x00",
    b"[" * 1500,
    b'{"a":' * 800,
)
JSON += (b"9" * 4400, b"1e400", b"-0.0", b"0x1", b"1_0")

FRAMES = (
    b'Content-Length: 20\r\n\r\n{"seq":1,"type":"x"}' * 3,
    b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
    b"content-length:\t 0\r\n\r\nContent-Length: 300\r\n\r\n" + b"x" * 300,
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nContent-Length: 2\r\n\r\n{}",
    b"Content-Length: 301\r\n\r\n",
)
HEADERS: Pieces = (
    b"Content-Length: ",
    b"Content-Type: x",
    b"\r\n",
    b"\r\n\r\n",
    b"\r",
    b"\n",
    b":",
    b" ",
    b"\t",
    b"+5",
    b"1_0",
)
HEADERS += (b"9" * 4400, b"\xb2", b"0" * 500, b"a" * 1024, b"300", b"301")

SETTINGS = (
    b'{"dashboard":"http://127.0.0.1:8265","job":"raysubmit_*","justMyCode":false,"maxWorkers":3}',
    b'{"workers":["10.0.0.1:5678","[::1]:1"],"tuneWorkers":false,"sessions":"perWorker","__sessionId":"x"}',
    b'{"program":"train.py","args":["--x","1"],"cwd":"/app","env":{"A":"b","C":null},"python":"python3"}',
    b'{"module":"train","submit":true,"pathMappings":[{"localRoot":"/a","remoteRoot":"."}],"workspaceFolder":"/a"}',
    b'{"name":"x","type":"raydap","request":"attach","node":"10.*","actor":"A","task":"t","role":"observer"}',
)
SETTING_NAMES = tuple(b'"%s":' % name.encode() for name in LaunchSettings.__struct_encode_fields__)
SETTING_NAMES += (b'"localRoot":', b'"workers":["a:1"]', b'"host:\xd9\xa1"', b'"a:%b"' % (b"9" * 4400), b'"\\udc80":1')

_BEGUN = b"""+
<0 initialize {"adapterID":"raydap","supportsInvalidatedEvent":true}
<0 attach {}
"""
_WORKING = _BEGUN + b"<0 configurationDone\nr\np01\na0\na1\n"
SESSIONS = (
    # A stop, the requests of an editor that shows it, a step, the end.
    _WORKING
    + b"""*0 stopped {"reason":"breakpoint","threadId":1}
<0 threads
<0 stackTrace {"threadId":1000}
a0
<0 scopes {"frameId":1001}
a0
<0 variables {"variablesReference":1002}
<0 evaluate {"expression":"x","frameId":1001}
a0
<0 next {"threadId":1000}
a0
*0 continued {"threadId":1,"allThreadsContinued":false}
*0 stopped {"reason":"step","threadId":1}
<0 continue {"threadId":1000}
<0 continue {"threadId":1000}
a0
*0 thread {"reason":"exited","threadId":1}
<0 disconnect
a0
a1
""",
    # Workers are watched, chosen and detached. Requests about many threads are under way when one worker dies.
    _BEGUN
    + b"""<0 configurationDone
r
<0 raydap/workers {"all":true}
v0123
p012
a0
a1
a2
l0 step
*0 stopped {"reason":"breakpoint","threadId":1}
*1 stopped {"reason":"exception","threadId":2,"text":"KeyError"}
<0 raydap/evaluate {"expression":"x"}
a0
a1
a0
a1
<0 raydap/stacks {"running":true,"export":"svg"}
<0 raydap/stacks {"locals":true,"running":true}
a0
a1
<0 raydap/waits {}
t1
a0
a1
a2
<0 raydap/waits {"select":"actor:Trainer"}
<0 raydap/step {"threadId":1001,"command":"next","timeout":2}
a0
a1
<0 raydap/compare {"expression":"x","keep":"before"}
a0
a1
a0
a1
<0 raydap/compare {"expression":"x","baseline":"before","select":"rank:0"}
a0
a1
<0 raydap/step {"threadId":1002,"command":"next","timeout":5,"until":"parted"}
<0 raydap/select {"select":"state:stopped where x"}
<0 raydap/sets {"name":"some","select":"state:stopped line:a.py"}
<0 raydap/evaluate {"expression":"x","select":"set:some or rank:0 where x > 1"}
a0
a1
a0
a1
<0 raydap/step {"threadId":1000,"command":"next"}
a0
a1
a0
<0 raydap/focus {"threadId":1001}
<0 raydap/detach {"workers":["w2"]}
a2
<0 raydap/attach {"workers":["w2"]}
<0 raydap/continue {"threads":[1001]}
x1
f
<0 raydap/attach {}
<0 raydap/continue
r
""",
    # Breakpoints of all kinds, moved and hit; two clients; a worker that dies with requests under way.
    _BEGUN
    + b"""<0 setBreakpoints {"source":{"path":"/app/a.py"},"breakpoints":[{"line":7,"condition":"x"}]}
<0 setFunctionBreakpoints {"breakpoints":[{"name":"step"}]}
<0 setExceptionBreakpoints {"filters":["raised"],"filterOptions":[{"filterId":"uncaught","condition":"KeyError"}]}
<0 configurationDone
r
p012
l0 step
a0
a1
a2
+
<1 initialize {"adapterID":"x"}
<1 attach {}
<1 configurationDone
*1 breakpoint {"reason":"changed","breakpoint":{"id":0,"verified":true,"line":8}}
*1 stopped {"reason":"breakpoint","threadId":1,"hitBreakpointIds":[0]}
*1 stopped {"reason":"exception","threadId":2,"text":"KeyError"}
a1
<1 breakpointLocations {"source":{"path":"/app/a.py"},"line":1,"endLine":9}
<0 exceptionInfo {"threadId":1002}
<1 evaluate {"expression":"x"}
<1 pause {"threadId":0}
<0 source {"sourceReference":1004}
x1
<1 cancel {"requestId":4}
-1
t9
""",
    # Barriers: workers arrive and wait; a timeout, a count, and waiting workers that are shown or released.
    _BEGUN
    + b"""<0 setBreakpoints {"source":{"path":"/app/a.py"},"breakpoints":[{"line":7,"hitCondition":"all 2 5s"}]}
<0 setBreakpoints {"source":{"path":"/app/b.py"},"breakpoints":[{"line":9,"hitCondition":"all x"}]}
<0 setFunctionBreakpoints {"breakpoints":[{"name":"step","hitCondition":"all"}]}
<0 configurationDone
r
p012
l0 Trainer.step
l1 Trainer.step
a0
a1
a2
*0 stopped {"reason":"breakpoint","threadId":1,"hitBreakpointIds":[0]}
t2
<0 raydap/barriers {}
<0 raydap/pause {"select":"state:held"}
*1 stopped {"reason":"function breakpoint","threadId":1}
a1
<0 evaluate {"expression":"/barriers release","context":"repl"}
*1 stopped {"reason":"breakpoint","threadId":1,"hitBreakpointIds":[1]}
<0 cancel {"progressId":"barrier 1001"}
<0 raydap/barriers {"action":"show","barrier":1001}
*2 stopped {"reason":"breakpoint","threadId":1,"hitBreakpointIds":[1]}
<0 setBreakpoints {"source":{"path":"/app/a.py"},"breakpoints":[]}
x1
t9
""",
    # A launched program, restarted; a child process; output and modules.
    b"""+
<0 initialize {}
<0 launch {"program":"train.py","maxWorkers":1}
<0 configurationDone
s5
p0
a0
*0 output {"category":"stdout","output":"hello","variablesReference":5}
*0 module {"reason":"new","module":{"id":0,"name":"m","path":"/app/a.py"}}
*0 debugpyAttach {"subProcessId":77,"host":"10.0.0.1","port":9}
a:
*: stopped {"reason":"pause","threadId":1}
<0 loadedSources
<0 restart {"arguments":{"program":"other.py"}}
*0 terminated
e1
<0 terminate
n
f
""",
    # A session for each worker.
    b"""+
<0 initialize {"supportsStartDebuggingRequest":true}
<0 attach {"sessions":"perWorker"}
d
<0 configurationDone
r
p0
a0
+g
<1 initialize {}
<1 attach {"__raydap":{"worker":"w0","token":"ticket"}}
<1 configurationDone
*0 stopped {"reason":"breakpoint","threadId":1}
~0 {"seq":9,"type":"response","request_seq":5,"success":false,"command":"startDebugging","message":"no"}
<1 stackTrace {"threadId":1000}
a0
k
-1
x0
""",
    # A hub: a client without the token, a client that returns, an observer.
    b"""H5
+u
<0 initialize {}
<0 threads
u0
<0 attach
<0 setBreakpoints {"source":{"path":"/app/a.py"},"breakpoints":[{"line":7}]}
<0 configurationDone
r
p0
a0
*0 stopped {"reason":"breakpoint","threadId":1}
-0
t1
+
<0 initialize {}
<0 attach {"role":"observer"}
<0 configurationDone
<0 threads
<0 continue {"threadId":1001}
+
<1 initialize {}
<1 attach {}
<1 setBreakpoints {"source":{"path":"/app/a.py"},"breakpoints":[]}
<1 configurationDone
<1 continue {"threadId":1001}
a0
<1 disconnect {"suspendDebuggee":true}
t5
<0 disconnect {"terminateDebuggee":true}
""",
    # Bytes that are not DAP, from both sides; answers that make no sense.
    _WORKING
    + b"""~0 {"seq":1,"type":"request"}
>0 [
>0 {"seq":9,"type":"request","command":"runInTerminal","arguments":{}}
*0 stopped {"threadId":"1"}
*0 stopped {"reason":"breakpoint","threadId":1}
<0 stackTrace {"threadId":1000}
=0 {"stackFrames":[{"id":1180591620717411303424},{"id":null,"source":{"path":5}},7]}
<0 noSuchThing {}
<0 stackTrace {"threadId":1000}
!0 no \xff
t:
y2
""",
)
_COMMANDS = b"""initialize attach launch configurationDone disconnect terminate restart cancel threads source modules
loadedSources breakpointLocations continue next stepIn stepOut goto pause setBreakpoints setFunctionBreakpoints
setExceptionBreakpoints stackTrace scopes variables setVariable setExpression evaluate completions stepInTargets
gotoTargets exceptionInfo"""
LINES = tuple(b"\n<0 %b " % command for command in _COMMANDS.split())
LINES += tuple(b"\n*0 %b " % event for event in b"initialized terminated stopped continued thread breakpoint".split())
LINES += tuple(
    b"\n%b\n" % line for line in b"a0 a1 o0 x0 y0 p p0 p012 r f k k1 s5 e0 n d t5 t9 tz -0 + +g +u u0".split()
)
LINES += tuple(b'"%b":' % field for field in b"threadId frameId id variablesReference sourceReference line".split())
LINES += (b'{"threadId":1000}', b'{"frameId":1001}', b'{"threadId":1}', b"null", b"[]", b"{}", b"\n", b'"\\udc80"')


def frame(payload: bytes, first: int = 0x81) -> bytes:
    """Return a client's frame (RFC 6455, section 5.2), masked with zeros so that the payload is unchanged."""
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes([first]) + length + bytes(4) + payload


def framed(*bodies: bytes) -> bytes:
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)


_INITIALIZE = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}'
_ATTACH = b'{"seq":2,"type":"request","command":"attach","arguments":{"token":"%b","job":"a"}}'
_UPGRADE = b"GET /dap HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
_UPGRADE += b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
_BEARER = b"Authorization: Bearer open-sesame\r\n"
_CUT = b"\n--\n"
LET_IN = _UPGRADE + _BEARER + b"\r\n" + _CUT
FRAMED = (
    frame(_INITIALIZE) + frame(_ATTACH % b"wrong") + frame(b"hello", 0x89),
    frame(b'{"seq":', 0x01) + frame(b"", 0x8A) + _CUT + frame(b"1", 0x00) + frame(b"}", 0x80),
    frame(b"[" * 200) + frame(b"\xc3", 0x01) + frame(b"\xa9", 0x80) + frame(b"\x03\xe8bye", 0x88) + frame(b"late"),
    frame(b"\xff") + frame(b"x", 0x82),
)
VISITS = (
    framed(_INITIALIZE) + _CUT + framed(_ATTACH % b"open-sesame", _INITIALIZE) + _CUT + framed(_INITIALIZE),
    framed(_INITIALIZE, _ATTACH % b"wrong", _ATTACH % b"", _ATTACH % b"open-sesame", _INITIALIZE),
    framed(b'{"seq":2,"type":"request","command":"launch","arguments":{"token":"open-sesame"}}', b"[", b""),
    LET_IN + frame(_INITIALIZE) + frame(_ATTACH % b"wrong"),
    _UPGRADE + b"Sec-WebSocket-Protocol: raydap, raydap.token.open-sesame\r\n\r\n" + _CUT + frame(b"{}"),
    _UPGRADE + b"Authorization: Bearer wrong\r\nOrigin: vscode-file://vscode-app\r\n\r\n",
    _UPGRADE + b"Sec-WebSocket-Extensions: permessage-deflate\r\nOrigin: http://evil.example\r\n" + _BEARER + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /dap HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
)
HTTP: Pieces = (b"GET ", b"/dap", b" HTTP/1.1\r\n", b"HTTP/1.0", b"\r\n", b"\r\n\r\n", b"Upgrade: h2c\r\n", b"\xc3\xa9")
HTTP += (_CUT, _BEARER)
HTTP += (b"Authorization: Basic eDp5\r\n", b"Transfer-Encoding: chunked\r\n", b"raydap.token.", b"open-sesame")
HTTP += (b"Host: [::1]:80\r\n", b"Host: evil.example\r\n", b"Origin: null\r\n", b"Sec-WebSocket-Protocol: ,\r\n")
HTTP += (b"Content-Length: ", b'"token":', b'"token":null,', b"\\u006f", b"\x81\xff", b"\x81\x7f" + b"\xff" * 8)
HTTP += (frame(b""), frame(b"", 0x88), frame(b"\x00", 0x88), frame(b"x" * 126, 0x8A), frame(b"x", 0x09))
HTTP += (b"\xc1\x80" + bytes(4),)
