"""Settings and model aliases."""
