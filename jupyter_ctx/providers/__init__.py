"""Providers: one adapter for each API, and the table of the services that speak it."""
