"""From `onnx` to `graph`: operators that have a form there are translated, all others move to the host.

One module per family of operators; each has a table `RULES` from ONNX names to rules (see `rules`).
"""
