"""The language server: findings while typing, and live workers in the source."""
