"""How long a prompt may be before a model uses it worse: questions, curves, and which length to ask next."""
