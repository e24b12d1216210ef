"""Adapters: nodes of one opset written for another, up and down.

| file | what |
|---|---|
| `conversion` | carries the nodes of a model over the boundaries of their operators |
| `table` | what is decided for each boundary: a widening (`widenings`), or adapters (`registry`) |
| `legality`, `attribute_values` | whether a node is legal at an opset |
| `recast`, `functions` | what is done for any operator: computing in a wider type, writing the defining function |
| `values`, `builder`, `schemas` | what an adapter sees of a node, and how it writes others |
| `axes`, `softmax`, `slicing`, `resize`, ... | the adapters of one family of operators each |

A new adapter is a function with a decorator in the file of its family (see `registry`); `python -m bench.opsets` writes
what all of them can do to docs/opsets.md.
"""
