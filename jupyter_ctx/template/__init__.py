"""Fill ``{{ expressions }}`` in a prompt from the notebook's variables: they look, and do not act."""
