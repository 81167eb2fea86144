"""The wait-for graph of a hanging program, from the reports of workers and Ray (raydap/waits)."""
