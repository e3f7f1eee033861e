"""Write conversations to files that people and other tools can read, and read them back."""
