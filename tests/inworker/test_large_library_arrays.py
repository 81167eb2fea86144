"""What real workers show of large arrays of torch and jax, which are tested where they are installed."""
