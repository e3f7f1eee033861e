"""Benchmarks: the speed and quality that the package promises, beside other packages."""
