"""Passes on instructions of one AI Core.

| pass | file | what |
|---|---|---|
| `plan-buffers` | `plan_buffers.py`, `lifetimes.py` | addresses for every buffer |
| `insert-sync` | `insert_sync.py`, `sync/` | flags and barriers for every hazard (docs/synchronisation.md) |

`addresses.py` reads the offsets of instructions; both passes use it.
"""
