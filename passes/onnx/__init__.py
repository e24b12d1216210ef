"""Rewrites of the onnx level."""
