"""Fill ``{{ expressions }}`` in a prompt from the notebook's variables, without running code of the notebook."""
