"""The language server: diagnostics for Ray programs, and the workers of running debug sessions in the source."""
