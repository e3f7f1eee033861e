"""Conversations in SQLite, and who holds each of them."""
