"""What becomes of the results: tables, comparisons, pictures and files."""
