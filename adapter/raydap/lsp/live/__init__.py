"""What the workers of running sessions do, shown in the source."""
