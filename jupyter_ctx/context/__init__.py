"""Pure decisions about tokens: what fits, and what does not. No I/O, no clock, no SDK.

The way begins at compaction.decide, which says what a request leaves out. overflow reads refusals, tokens and
families estimate sizes, windows choose a window among all that was said of it.
"""
