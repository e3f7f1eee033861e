"""Models: their names, windows, tokenizers and prices."""
