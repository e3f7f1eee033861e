"""Conversations in SQLite or PostgreSQL, and who holds each of them."""
