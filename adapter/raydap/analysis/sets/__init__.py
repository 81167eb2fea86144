"""Sets of workers: the language that names them (docs/usage/sets.md), and who is in one."""
