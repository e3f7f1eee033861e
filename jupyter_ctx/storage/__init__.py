"""Conversations and answers of runs in SQLite, and which kernel holds a conversation.

The way begins at conversation_writer.ConversationWriter: open reads a conversation, save writes events in one
transaction (database.Database). Answers of runs begin at stored_answers.Answers.
"""
