"""The outside world: file formats, devices, simulators, code generators and run times."""
