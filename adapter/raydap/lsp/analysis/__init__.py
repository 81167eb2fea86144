"""The static analysis of a file: pure functions that read its syntax tree, and never run the user's code."""
