"""One conversation at work: plan a request, send it, record what came, act on what was said."""
