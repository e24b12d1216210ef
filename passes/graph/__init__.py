"""Rewrites of the graph level."""
