"""The OM file: container, protobuf messages, kernel store, and the way between the file and the `om` dialect."""
