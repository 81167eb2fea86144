"""Sets of workers (docs/usage/sets.md): their syntax, their members, and the members' answers in groups."""
