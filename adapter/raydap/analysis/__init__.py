"""Pure functions that combine the reports of many workers and of Ray into one answer. No session, no I/O."""
