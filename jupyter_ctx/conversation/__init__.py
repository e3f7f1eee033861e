"""What was said, and what the user did with it; values without I/O.

The way begins at conversation.Conversation.append: each event is folded into the places of the turns (places).
messages has the values, schema what a structured answer must be.
"""
