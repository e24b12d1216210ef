"""The optimiser beside others: nodes, time and agreement on real models. See :mod:`bench.optimiser.__main__`."""
