-- Launches a program with nvim-dap as a user does: breakpoints by :DapToggleBreakpoint, then :DapContinue.
--
-- Use: nvim --headless -u NORC -c "luafile launch.lua"; the environment has RAYDAP_NVIM_DAP (its folder), PAGE (a file with the
-- configuration of docs/usage/neovim.md), PROGRAM and LINES_TO_STOP. Prints "stop NAME LINE" for each stop, and ends with code 0.
vim.opt.runtimepath:prepend(vim.env.RAYDAP_NVIM_DAP)
vim.cmd.runtime("plugin/dap.lua")
local dap = require("dap")
dofile(vim.env.PAGE)

local output, shown, ended = {}, {}, false
dap.listeners.after.event_output.play = function(_, body)
  table.insert(output, body.output)
end
-- nvim-dap asks for the scopes of the frame that it has gone to.
dap.listeners.after.scopes.play = function(session)
  local frame = session.current_frame
  shown[session.stopped_thread_id] = frame
end
dap.listeners.after.event_terminated.play = function()
  ended = true
end
vim.fn.inputlist = function(offered)
  for index, text in ipairs(offered) do
    if text:find("Ray: launch this file", 1, true) then
      return index - 1
    end
  end
  return 0
end

local function wait(what, predicate)
  if not vim.wait(60000, predicate, 50) then
    io.stderr:write(what .. " did not come\n" .. table.concat(output))
    vim.cmd("cquit")
  end
end

vim.cmd.edit(vim.env.PROGRAM)
for line in vim.gsplit(vim.env.LINES_TO_STOP, ",") do
  vim.api.nvim_win_set_cursor(0, { tonumber(line), 0 })
  vim.cmd("DapToggleBreakpoint")
end
vim.cmd("DapContinue")
for _ = 1, 3 do
  local session
  wait("a stop", function()
    session = dap.session()
    return ended or session and session.stopped_thread_id and shown[session.stopped_thread_id]
  end)
  local thread = session.stopped_thread_id
  print(("stop %s %d\n"):format(shown[thread].name, vim.fn.line(".")))
  shown[thread] = nil
  vim.cmd("DapContinue")
end
wait("the end", function()
  return ended
end)
print(table.concat(output))
vim.cmd("qall!")
