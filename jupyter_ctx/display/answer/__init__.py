"""An answer on a page, in a terminal and while it grows."""
