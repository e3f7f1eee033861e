"""How requests are sent: at which pace, in which thread, and what becomes of each answer."""
