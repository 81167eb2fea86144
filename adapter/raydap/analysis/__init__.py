"""One answer made of what many workers and Ray report. No session, no I/O."""
