"""The levels: operations, types and attributes of each, with their verifiers and their meaning."""
