"""Pure mathematics of the compiler: layouts, float formats, intervals. Nothing here imports an IR."""
