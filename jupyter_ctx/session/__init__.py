"""One conversation at work: plan a request, send it, record what came, act on what was said.

The way begins at send.send_prompt: plan.plan says what fits, complete.complete sends and recovers, and
session.Session.record_turn keeps the turn. ask.ask is the same way without a conversation.
"""
