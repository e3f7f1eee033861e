"""What was said, and what the user did with it; values without I/O."""
