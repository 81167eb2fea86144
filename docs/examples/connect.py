"""Instructions to connect an editor to a bridge that listens, which `make demo KEEP=1` prints."""

import json

VSCODE = {"name": "Ray", "type": "debugpy", "request": "attach"}

TEXT = """\
VS Code with the Python Debugger extension: put this into the "configurations" of .vscode/launch.json and press F5
{vscode}

Neovim with nvim-dap: run this, then :lua require("dap").run(require("dap").configurations.python[1])
  require("dap").adapters.raydap = {{ type = "server", host = "{host}", port = {port} }}
  require("dap").configurations.python = {{
    {{ name = "Ray", type = "raydap", request = "attach", dashboard = "{dashboard}" }},
  }}
  -- Otherwise nvim-dap resumes every further worker that stops while you look at one.
  require("dap").defaults.raydap.auto_continue_if_many_stopped = false

Emacs with dap-mode: evaluate this
  (require 'dap-mode)
  (dap-register-debug-provider "raydap" #'identity)
  (dap-debug (list :name "Ray" :type "raydap" :request "attach" :host "{host}" :port {port}
                   :debugServer {port} :dashboard "{dashboard}"))
"""


def instructions(host: str, port: int, dashboard: str) -> str:
    """Return the instructions. `host` and `port` are where the bridge listens, `dashboard` is the cluster's URL."""
    configuration = {**VSCODE, "debugServer": port, "dashboard": dashboard}
    vscode = "\n".join("  " + line for line in json.dumps(configuration, indent=2).splitlines())
    return TEXT.format(vscode=vscode, host=host, port=port, dashboard=dashboard)
