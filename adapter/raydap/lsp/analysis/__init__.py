"""What a file's text says about Ray: pure functions that read a syntax tree and run nothing of the user's."""
