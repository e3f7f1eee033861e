"""What is known of models: names, windows, tokenizers, prices, and what was learned of them.

The way begins at registry.Models.target, which returns where a request goes and within which limits
(target.Target).
"""
