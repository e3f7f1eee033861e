"""Ask one prompt of many rows: priced before, resumable, and judged with honest statistics.

The way begins at start.start, which reads the table and makes the plan (table.plan) that a run.Run carries out:
asking.engine sends what no store has, table.results makes results of what comes, statistics and results tell of them.
"""
