"""The ONNX format: models in and out of the onnx dialect."""
