"""The values of large arrays of torch and jax in real workers, tested where the libraries are installed."""
