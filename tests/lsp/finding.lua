-- Waits for the server's findings of the open file, applies the first fix, and prints what the user would see.

local function fail(text)
  print("FAILED " .. text)
  vim.cmd("cquit 1")
end

local function wait_for_diagnostics(count)
  if not vim.wait(60000, function() return #vim.diagnostic.get(0) == count end, 20) then
    fail("diagnostics: " .. vim.inspect(vim.diagnostic.get(0)))
  end
end

wait_for_diagnostics(1)
local diagnostic = vim.diagnostic.get(0)[1]
print(("finding %s %d:%d %s\n"):format(diagnostic.code, diagnostic.lnum, diagnostic.col, diagnostic.message))

local client = vim.lsp.get_clients({ name = "raydap" })[1]
print(("encoding %s\n"):format(client.offset_encoding))
local parameters = vim.lsp.util.make_range_params(0, client.offset_encoding)
parameters.range = diagnostic.user_data.lsp.range
parameters.context = { diagnostics = { diagnostic.user_data.lsp } }
local answer = client:request_sync("textDocument/codeAction", parameters, 60000, 0)
local action = answer.result[1]
print(("fix %s\n"):format(action.title))
vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
wait_for_diagnostics(0)
print(("line %s\n"):format(vim.api.nvim_buf_get_lines(0, diagnostic.lnum, diagnostic.lnum + 1, true)[1]))
vim.cmd("quitall!")
