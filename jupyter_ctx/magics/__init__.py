"""The magics: ``%%chat``, ``%chat``, and what Tab offers in them."""
