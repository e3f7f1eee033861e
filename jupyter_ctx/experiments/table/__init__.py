"""What is asked and what is answered, row by row: the table, its prompts and requests, and the results."""
