"""Ask one prompt of many rows: priced before, resumable, and judged with honest statistics."""
