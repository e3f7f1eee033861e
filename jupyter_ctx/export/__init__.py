"""Conversations as files that people and other tools read."""
