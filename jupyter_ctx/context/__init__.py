"""Pure decisions about tokens: what fits, and what does not. No I/O, no clock, no SDK."""
