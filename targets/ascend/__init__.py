"""Ascend NPUs: what a chip can do, its simulator, the OM file and the runtime."""
