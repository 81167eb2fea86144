"""The style sheet of the page, with light and dark colours. It loads nothing from the network."""

STYLE = """\
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --back: #ffffff; --card: #f6f8fa; --line: #d1d9e0;
  --bad: #c4232b; --bad-back: #ffebe9; --good: #1a7f37; --good-back: #dafbe1; --warn: #9a6700; --warn-back: #fff8c5;
  --link: #0550ae; --bar: #9ecbff; --task: #8db9f2; --pause: #d1242f }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9198a1; --back: #0d1117; --card: #161b22; --line: #30363d;
    --bad: #ff7b72; --bad-back: #3b1518; --good: #56d364; --good-back: #12261a; --warn: #e3b341; --warn-back: #2b2208;
    --link: #79b8ff; --bar: #1f4f86; --task: #2f5f9e; --pause: #ff7b72 }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1160px; padding: 24px 20px 80px; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif }
code, pre, .mono, td.value, td.name { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 13px }
pre { margin: 8px 0; padding: 10px 12px; background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  overflow: auto; max-height: 420px; white-space: pre-wrap; overflow-wrap: anywhere }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
h1 { margin: 0 0 4px; font-size: 22px; font-weight: 600; overflow-wrap: anywhere }
h2 { margin: 40px 0 12px; padding-bottom: 6px; border-bottom: 1px solid var(--line); font-size: 18px }
h3 { margin: 20px 0 6px; font-size: 15px }
.soft { color: var(--soft) }
.small { font-size: 13px }
.badge { display: inline-block; padding: 1px 9px; border-radius: 12px; font-size: 13px; font-weight: 600;
  background: var(--card); border: 1px solid var(--line); white-space: nowrap }
.badge.bad { color: var(--bad); background: var(--bad-back); border-color: transparent }
.badge.good { color: var(--good); background: var(--good-back); border-color: transparent }
.badge.warn { color: var(--warn); background: var(--warn-back); border-color: transparent }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; margin: 18px 0 }
.tile { flex: 1 1 150px; padding: 10px 14px; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  color: inherit }
.tile b { display: block; font-size: 20px; line-height: 1.3 }
.tile.bad b { color: var(--bad) }
.first { margin: 18px 0; padding: 10px 18px; background: var(--warn-back); border-radius: 8px }
.first.good { background: var(--good-back) }
.first ul { margin: 4px 0; padding-left: 20px }
details { margin: 10px 0; border: 1px solid var(--line); border-radius: 8px }
details > summary { padding: 8px 14px; cursor: pointer; overflow-wrap: anywhere }
details[open] > summary { border-bottom: 1px solid var(--line) }
details > .inside { padding: 8px 14px 12px }
details details { margin: 6px 0 }
details.frame { border: 0; margin: 2px 0 }
details.frame > summary { padding: 2px 4px; border: 0 }
details.frame > .inside { padding: 2px 4px 6px 18px }
.error > summary { border-left: 4px solid var(--bad); border-radius: 8px 8px 0 0 }
ul.tree { margin: 4px 0; padding-left: 14px; list-style: none; border-left: 1px solid var(--line) }
table { border-collapse: collapse; margin: 8px 0; max-width: 100% }
th { text-align: left; font-weight: 600; font-size: 13px; color: var(--soft); padding: 2px 16px 4px 0 }
td { padding: 2px 16px 2px 0; vertical-align: top; overflow-wrap: anywhere }
td.value { max-width: 560px; white-space: pre-wrap }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
tr.apart td { background: var(--warn-back) }
.scroll { overflow-x: auto }
.chart { width: 100%; height: auto; display: block }
.chart text { font: 11px system-ui, sans-serif; fill: var(--soft) }
.chart .grid { stroke: var(--line); stroke-width: 1 }
.chart .curve { fill: none; stroke-width: 1.6; stroke-linejoin: round }
.chart .band { stroke: none; opacity: .18 }
.chart .nan { stroke: var(--bad); stroke-width: 2 }
.chart .task { fill: var(--task) }
.chart .failed { fill: var(--bad); opacity: .75 }
.chart .open { fill: var(--task); opacity: .6 }
.chart .pause { fill: var(--pause) }
.chart .row { stroke: var(--line); stroke-width: .5 }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px }
.legend i { display: inline-block; width: 10px; height: 10px; margin-right: 5px; border-radius: 2px }
.c0 { --c: #0969da } .c1 { --c: #cf6a00 } .c2 { --c: #1a7f37 } .c3 { --c: #8250df } .c4 { --c: #bf3989 }
.c5 { --c: #0a7d8c } .c6 { --c: #9a6700 } .c7 { --c: #57606a }
@media (prefers-color-scheme: dark) {
  .c0 { --c: #58a6ff } .c1 { --c: #f0883e } .c2 { --c: #3fb950 } .c3 { --c: #bc8cff } .c4 { --c: #f778ba }
  .c5 { --c: #39c5cf } .c6 { --c: #d29922 } .c7 { --c: #9198a1 }
}
.curve, .dot { stroke: var(--c) } .dot, .band { fill: var(--c) } .legend i { background: var(--c) }
svg.stacks { width: 100%; height: auto }
@media print { details > .inside { display: block } body { max-width: none } }
"""
