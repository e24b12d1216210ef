"""The NPU simulator: runs encoded kernels, functionally and in time. docs/simulator.md describes what it models."""

from ge.targets.ascend.simulator.launch import KernelResult, TraceEvent, launch, run_kernel

__all__ = ["KernelResult", "TraceEvent", "launch", "run_kernel"]
