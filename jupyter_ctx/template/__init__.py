"""Fill ``{{ expressions }}`` in a prompt from the notebook's variables: they look, and do not act.

The way begins at expressions.fill; Expression.of parses and checks an expression, node by node.
"""
