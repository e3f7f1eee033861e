"""Models: which one is meant, what it holds, how it counts and what it costs."""
