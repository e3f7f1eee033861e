"""Draw answers, the gauge and tables for a page, a saved notebook and a terminal.

The way begins at answer.stream, which draws an answer while it comes, and at widgets.gauge. Every text that enters
a page passes text.text_html.
"""
