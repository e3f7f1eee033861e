"""Draw answers, the gauge and tables for a page, a saved notebook and a terminal."""
