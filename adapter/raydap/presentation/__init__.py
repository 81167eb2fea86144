"""How raydap shows things, the same everywhere: text made safe, durations, numbers, states, tables, trees of stacks."""
