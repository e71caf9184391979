"""The truth: one contract, and the backends that keep it."""
