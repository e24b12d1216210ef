"""Shape inference: what is known of values before a model runs.

| module | what |
|---|---|
| `values` | what is known of a value: element type, shape, small contents |
| `node` | an operation as a shape rule sees it |
| `rules` | all rules by operator; the families are `elementwise`, `windows`, `matrices`, `reshaping`, `indexing`, ... |
| `contents`, `arithmetic` | what operations on small integer tensors give, for shapes that models compute |
| `types` | between IR types and values |
| `signature` | names of dimensions in text |
| `inference` | the walk over a function |
| `verification` | the check of one operation, by the same rules |
| `input_shapes` | shapes of inputs that a user asks for |
| `report` | the table of all values |

Rules are pure functions on small dataclasses and import no IR; sizes that are not known are expressions of
:mod:`ge.maths.symbols`. docs/onnx.md says what is inferred and what is an error.
"""
