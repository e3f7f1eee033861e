"""Draw an answer on a page and in a terminal, finished or still growing."""
