"""Functions of the notebook that a model may call: what is offered of them, and how a call is run."""
