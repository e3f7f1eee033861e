"""The process around us: front end, interrupts, small files."""
