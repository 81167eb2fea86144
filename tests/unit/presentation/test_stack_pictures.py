"""A tree of stacks as text for other tools."""

from xml.etree import ElementTree

from raydap.presentation.stack_pictures import STYLE, folded, svg
from raydap.protocol.stack_messages import CodeLocation, StackNode

SVG = "{http://www.w3.org/2000/svg}"


def node(name: str, count: int, *children: StackNode) -> StackNode:
    frame = None if not name else CodeLocation(name=name, path="/app/train.py", line=count)
    return StackNode(frame=frame, count=count, members=(), running=(), label="Trainer{0-9}", children=children)


TREE = node("", 10, node("save", 1), node("main", 9, node("a;b", 3), node("train", 5, node("<lambda>", 5))))


def test_folded_has_a_line_for_each_stack_and_its_own_threads() -> None:
    assert folded(TREE).splitlines() == [
        "save (train.py:1) 1",
        "main (train.py:9) 1",
        "main (train.py:9);a,b (train.py:3) 3",
        "main (train.py:9);train (train.py:5);<lambda> (train.py:5) 5",
    ]
    assert folded(node("", 3)) == ""


def test_a_name_with_a_line_break_makes_no_line() -> None:
    assert folded(node("", 1, node("a\nb 7", 1))) == "a?b 7 (train.py:1) 1"


def boxes(tree: StackNode) -> dict[str, ElementTree.Element]:
    groups = ElementTree.fromstring(svg(tree)).iter(f"{SVG}g")
    return {str(group.findtext(f"{SVG}title")).partition(" (")[0]: group for group in groups}


def test_a_frame_is_as_wide_as_it_has_threads_and_below_its_caller() -> None:
    drawn = boxes(TREE)
    rects = {name: group.find(f"{SVG}rect") for name, group in drawn.items()}
    shape = {
        name: (rect.get("x"), rect.get("y"), rect.get("width")) for name, rect in rects.items() if rect is not None
    }
    assert shape["10 threads\n10: Trainer{0-9}"] == ("0.0", "0", "1200.0")
    assert shape["save"] == ("0.0", "20", "120.0")
    assert shape["main"] == ("120.0", "20", "1080.0")
    assert shape["train"] == ("480.0", "40", "600.0")
    assert [name for name, group in drawn.items() if group.get("class") == "few"] == ["save", "a;b"]


def test_what_is_too_narrow_is_left_out_or_has_no_text() -> None:
    many = node("", 10_000, node("one", 1), node("some", 100, node("inner", 100)), node("most", 9_899))
    drawn = boxes(many)
    assert "one" not in drawn
    assert drawn["some"].findtext(f"{SVG}text") is None
    assert drawn["most"].findtext(f"{SVG}text") == "most (train.py:9899)"


def test_a_picture_is_xml_whatever_the_names_are() -> None:
    drawn = boxes(node("", 1, node('<&\x00\ud83d">', 1)))
    assert '<&??">' in drawn


def test_a_page_can_have_the_style_of_many_pictures_once() -> None:
    assert svg(TREE).replace(f"<style>{STYLE}</style>\n", "") == svg(TREE, has_style=False)
    assert STYLE in svg(TREE)
