"""The environment of the kernel's process: front end, interrupts, small files."""
