"""What goes with a prompt: files, and what stands in the notebook, such as plots, tables, outputs and errors."""
