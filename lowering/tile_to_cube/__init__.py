"""From tiles to the instructions of an AI Core (`convert-tile-to-cube`).

| file | what |
|---|---|
| `convert.py` | the pass: kernels, operations by type, index arithmetic |
| `builder.py` | the state of a conversion: insertion, scopes, buffers and their copies |
| `places.py` | where tiles are, and where their uses want them |
| `loops.py` | loops, loop-carried tiles, double buffering |
| `loads.py`, `stores.py`, `transfers.py` | device memory: clips, fills, copies in bursts |
| `matmul.py` | im2col, operands and accumulators of the cube unit |
| `elementwise.py`, `reduce.py`, `movement.py` | the vector unit |
| `strides.py` | layouts of tiles, and vector instructions that cover them; no IR |
| `index_math.py` | index arithmetic that folds |
"""
