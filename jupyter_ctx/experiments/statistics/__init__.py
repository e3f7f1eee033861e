"""Figures of scored answers: tallies by arm, intervals, paired tests, and what they support."""
