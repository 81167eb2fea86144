"""The picture of a recorded terminal."""

from support import terminal_film
from support.terminal import Run
from support.terminal_film import Frame, Row


def row(text: str, colour: str = "default", is_bold: bool = False) -> Row:
    return (Run(text, colour, is_bold),)


FRAMES = [
    Frame(100, (row("$ a"), ())),
    Frame(200, (row("$ ab"), ())),
    Frame(300, (row("$ ab"), row("<done>", "red", True))),
]


def test_a_row_that_stays_the_same_is_one_interval() -> None:
    found = [(each.line, each.row, each.start, each.end) for each in terminal_film.intervals(FRAMES)]
    assert found == [
        (0, row("$ a"), 0, 100),
        (0, row("$ ab"), 100, 600),
        (1, row("<done>", "red", True), 300, 600),
    ]


def test_each_row_is_visible_in_its_interval_and_at_the_end_without_motion() -> None:
    svg = terminal_film.picture(FRAMES)
    assert "@keyframes k0{0.000%{visibility:visible}16.667%{visibility:hidden}}" in svg
    assert "@keyframes k1{0.000%{visibility:hidden}16.667%{visibility:visible}}" in svg
    assert "600ms step-end infinite" in svg
    assert svg.count('class="past"') == 1
    assert f'fill="{terminal_film.COLOURS["red"]}" font-weight="bold">&lt;done&gt;</text>' in svg


def test_the_texts_of_a_picture_can_be_compared_without_what_differs_from_run_to_run() -> None:
    frames = [Frame(1, (row("(Rollout 2) n"), row("2  Rollout 2"), row("Barrier at 23: 1 of 4")))]
    assert terminal_film.lines(terminal_film.picture(frames)) == {"(Rollout N) n", "2  Rollout 2"}
