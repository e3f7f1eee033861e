"""What we promise about speed, measured side by side."""
