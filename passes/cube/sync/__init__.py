"""How `insert-sync` orders the instructions of different pipes; docs/synchronisation.md explains it from the start.

| file | what |
|---|---|
| `structure.py` | where an instruction stands among loops and branches |
| `accesses.py` | what an instruction touches, and whether two touch the same bytes |
| `hazards.py` | every pair of instructions that must be ordered, with the loop that brings it about |
| `nearest.py` | hazards that nearer ones imply, left out at once |
| `flags.py` | flags by their places |
| `knowledge.py` | what pipes know of each other by flags |
| `pairs.py` | flags for hazards between pipes, without those that others imply |
| `barriers.py` | hazards inside one pipe |
| `events.py` | event numbers |
| `emit.py` | the operations |
"""
