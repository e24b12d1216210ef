"""How well the memory of the device is used, and how long planning takes: see :mod:`bench.memory.__main__`."""
