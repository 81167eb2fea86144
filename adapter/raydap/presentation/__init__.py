"""Formatting that all user interfaces share: safe text, durations, numbers, tables, and trees of stacks."""
