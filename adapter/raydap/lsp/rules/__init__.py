"""The rules of the diagnostics: `rule_table.py` lists them, a topic is a file."""
