"""Python's parser, without its warnings."""

import ast
import warnings


def parse_module(text: str) -> ast.Module:
    """Raises SyntaxError, ValueError, RecursionError or MemoryError: what Python raises for what it does not compile.

    Python's warnings about the text would fill raydap's log, and raydap does not run it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parse_expression(text: str) -> ast.Expression:
    """Raises as `parse_module` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval")
