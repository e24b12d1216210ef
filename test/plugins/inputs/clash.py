"""A plug-in whose pass has a name that is taken."""

PASSES = {"cse": "xdsl.transforms.dead_code_elimination:DeadCodeElimination"}
