"""The workers of running debug sessions, shown in the source."""
