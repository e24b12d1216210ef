"""The shared layer under all levels: attributes, text, verification, rewriting, registration and errors.

It sits on xDSL and mends, in one place, what this project needs and xDSL 0.75 does not give: constants that survive
text bit by bit, weights in side files, locations that survive rewriting, a dominance check and one-line errors.
"""
