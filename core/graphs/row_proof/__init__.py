"""The proof that a graph treats the rows of a batch one by one. Needs the package onnx, but for the verdict itself."""
