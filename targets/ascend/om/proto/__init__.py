"""The protobuf messages of the OM file. The modules are generated: `python -m ge.tools.generate_protos`."""
