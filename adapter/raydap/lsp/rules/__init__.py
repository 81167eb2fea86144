"""The rules of the diagnostics, with a file for each topic; `rule_table.py` lists them."""
