"""What fits: pure decisions about tokens. No I/O, no clock, no SDK."""
