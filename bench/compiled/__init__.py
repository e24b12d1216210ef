"""The numbers of compiled models: see :mod:`bench.compiled.__main__`."""
