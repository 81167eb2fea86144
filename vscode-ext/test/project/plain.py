"""One process that waits for a debugger, without Ray; its first line of output is its port."""

import debugpy

print(debugpy.listen(("127.0.0.1", 0))[1], flush=True)
debugpy.wait_for_client()
answer = 42
debugpy.breakpoint()
print(f"answer: {answer}")
