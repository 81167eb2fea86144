"""Text of workers that has to stay on one line of a table."""


def one_line(text: str) -> str:
    """Return the text with a space for each character that is not printable: a line break would look like another row,
    and others would move the cursor of a terminal."""
    return "".join(each if each.isprintable() else " " for each in text)
