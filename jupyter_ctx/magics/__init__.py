"""The magics ``%%chat`` and ``%chat``, and what Tab offers in them.

The way begins at registration.ChatMagics.chat, goes on in chat_cells.run_line, and leaves the room with
ChatCells.ask, which sends a prompt that cell_prompts has made. Commands are declared in commands.
"""
