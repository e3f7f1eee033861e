"""One adapter for each API, the services that speak it, and the model in the kernel.

The way begins at base.Provider.stream. adapter.Adapter connects, retries and maps errors; an adapter of its API
translates a request and reads the stream. lookup.get_provider finds the adapter of a model.
"""
