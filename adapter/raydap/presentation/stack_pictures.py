"""A tree of stacks in formats of other tools: folded stacks for flame graphs and speedscope, or an SVG picture."""

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from raydap.presentation.short_text import function_line, shortened
from raydap.protocol.stack_messages import StackNode

WIDTH, ROW = 1200.0, 20.0
"""The width of the picture, and the height of a frame in it, in pixels."""

NARROWEST = 1.0
"""The width in pixels below which a frame is left out, so that the picture of 10,000 workers stays readable."""

_CHARACTER = 7.0

STYLE = """\
.stacks text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; pointer-events: none }
.stacks rect { stroke: #ffffff; fill: #9ecbff }
.stacks .few rect { fill: #ffb77c }
.stacks g:focus rect, .stacks g:hover rect { stroke: #1f2328 }
@media (prefers-color-scheme: dark) {
  svg.stacks { background: #1f1f1f }
  .stacks text { fill: #e6edf3 }
  .stacks rect { stroke: #1f1f1f; fill: #1f4f86 }
  .stacks .few rect { fill: #8a4b10 }
  .stacks g:focus rect, .stacks g:hover rect { stroke: #e6edf3 }
}"""
"""The rules apply to this picture alone, because a page may contain other pictures."""


def folded(root: StackNode) -> str:
    """Return one line for each stack, outermost frame first: `main (train.py:3);step (train.py:9) 7`."""
    return "\n".join(_folded(root, []))


def _folded(node: StackNode, outer: list[str]) -> Iterator[str]:
    frames = outer if node.frame is None else [*outer, _name(node).replace(";", ",")]
    own = node.count - sum(child.count for child in node.children)
    if own and frames:
        yield f"{';'.join(frames)} {own}"
    for child in node.children:
        yield from _folded(child, frames)


class _Box(NamedTuple):
    node: StackNode
    """The node of the tree; the root has no frame."""
    left: float
    """The distance from the left edge of the picture, in SVG units."""
    width: float
    """The width, in SVG units."""
    depth: int
    """The number of the row, from 0 for the root."""
    is_few: bool
    """Whether the frame has less than half of its caller's threads."""


def svg(root: StackNode, has_style: bool = True) -> str:
    """Return an icicle graph as SVG: each frame is below its caller, and its width is the number of its threads.

    A frame with less than half of its caller's threads has another colour. Each frame can be reached by keyboard.
    A page that already contains STYLE needs a picture without it: `has_style` is False.
    """
    boxes = list(_boxes(root, 0.0, WIDTH, 0, False))
    height = (1 + max(box.depth for box in boxes)) * ROW
    parts = "\n".join(_drawn(box) for box in boxes)
    size = f'width="{WIDTH:g}" height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}"'
    style = f"<style>{STYLE}</style>\n" if has_style else ""
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="stacks" {size}>\n{style}{parts}\n</svg>\n'


def _boxes(node: StackNode, left: float, width: float, depth: int, is_few: bool) -> Iterator[_Box]:
    yield _Box(node, left, width, depth, is_few)
    for child in node.children:
        part = width * child.count / max(node.count, 1)
        if part >= NARROWEST:
            yield from _boxes(child, left, part, depth + 1, 2 * child.count < node.count)
        left += part


def _drawn(box: _Box) -> str:
    node = box.node
    place = f'x="{box.left:.1f}" y="{box.depth * ROW:g}"'
    # The number of characters that fit into the box.
    room = int((box.width - 6) / _CHARACTER)
    name = _name(node)
    shown = shortened(name, room) if room > 3 or len(name) <= room else ""
    text = f'<text x="{box.left + 3:.1f}" y="{box.depth * ROW + 14:g}">{_escaped(shown)}</text>' if shown else ""
    title = _escaped(f"{name}\n{node.count}: {node.label}")
    few = ' class="few"' if box.is_few else ""
    rect = f'<rect {place} width="{box.width:.1f}" height="{ROW:g}"/>'
    return f'<g tabindex="0"{few}><title>{title}</title>{rect}{text}</g>'


def _name(node: StackNode) -> str:
    if node.frame is None:
        return f"{node.count} threads"
    return _printable(function_line(node.frame.name, node.frame.path, node.frame.line))


def _escaped(text: str) -> str:
    return escape("\n".join(map(_printable, text.split("\n"))))


def _printable(text: str) -> str:
    """Replace characters that XML does not allow, and line breaks: the text comes from a worker."""
    return "".join(each if each.isprintable() else "?" for each in text)
