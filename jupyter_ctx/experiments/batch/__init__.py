"""Rows asked in batches of a provider, at half price and within a day."""
