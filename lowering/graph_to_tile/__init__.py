"""From graph operations to tile kernels, one file for each family of operations.

| file | what |
|---|---|
| `convert_graph_to_tile` | the pass: outlines each device operation into a kernel and launches it |
| `contraction` | the kernel of convolutions and matrix products; its sizes come from `ge.maths.tiling` |
| `convolution`, `matmul`, `pooling`, `elementwise`, `softmax`, ... | one family of operations each |
| `fusion` | a `graph.fusion`: a convolution or matrix product with elementwise steps, or steps alone |
| `spaces`, `steps` | what elementwise kernels go through, and what they do on each tile |
| `activations` | functions of one element, composed of what the vector unit has |
| `builder`, `constants`, `outline` | writing kernels |
"""
