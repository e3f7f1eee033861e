"""The process of the kernel: front end, interrupts, files and secrets.

The way begins at frontend.where, which says which cell runs and who shows it, and at redaction.Redactor, which
blanks keys in what leaves the kernel.
"""
