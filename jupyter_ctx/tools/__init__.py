"""Functions of the notebook that a model may call: what is offered of them, and how a call is run.

The way begins at functions.as_tools, and for a call at rounds.ToolCaller.answer, which has calling.run_call check
the arguments and call the function.
"""
