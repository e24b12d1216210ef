"""Rewrites within one level, one pass per file."""
