"""Conversations, and answers that are handed out, in files that people and other tools can read.

The way begins at conversation_files.export and load, which choose the format by the suffix; that of a handout at
handout.gathered and handout.HandedOut.
"""
