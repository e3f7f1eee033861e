"""What a run may cost, told before it begins, and never passed."""
