"""Python's parser without its warnings about the text, which would fill raydap's log.

raydap does not run the text.
"""

import ast
import warnings


def parse_module(text: str) -> ast.Module:
    """Return the syntax tree of a module.

    Raises SyntaxError, ValueError, RecursionError or MemoryError, as Python does for code that it cannot compile.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parse_expression(text: str) -> ast.Expression:
    """Return the syntax tree of an expression. Raises like `parse_module`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval")
