"""Where an agent was: threads, their working set, steps, and what waits."""
