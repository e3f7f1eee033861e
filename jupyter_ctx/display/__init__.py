"""What the notebook shows. Draws values; knows no provider."""
