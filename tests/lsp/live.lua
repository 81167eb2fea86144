-- Waits until live workers are shown, and prints what the user would see: the lenses, then the hints.

local function fail(text)
  print("FAILED " .. text)
  vim.cmd("cquit 1")
end

local function wait(what, shown)
  if not vim.wait(60000, function() return #shown() > 0 end, 20) then
    fail(what)
  end
  return shown()
end

if not vim.wait(60000, function() return #vim.lsp.get_clients({ name = "raydap" }) > 0 end, 20) then
  fail("no client")
end
vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
local hints = wait("hints", function() return vim.lsp.inlay_hint.get({ bufnr = 0 }) end)
vim.lsp.codelens.refresh({ bufnr = 0 })
local lenses = wait("lenses", function() return vim.lsp.codelens.get(0) end)
for _, lens in ipairs(lenses) do
  print(("lens %d %s\n"):format(lens.range.start.line + 1, lens.command.title))
end
for _, hint in ipairs(hints) do
  print(("hint %d %s\n"):format(hint.inlay_hint.position.line + 1, hint.inlay_hint.label))
end
vim.cmd("quitall!")
