"""How fast the commands start: ``python -m bench.startup``.

Times ``ge-opt --help`` and ``ge-opt`` on a small file beside ``xdsl-opt`` on the same machine in the same run, the best
of several, and prints the ratio. The aim for ``ge-opt --help`` is half a second.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

SMALL = Path(__file__).resolve().parents[1] / "test" / "tools" / "ge_opt_passes.mlir"
RUNS = 7


def best(module: str, *arguments: str) -> float:
    """The best wall time in seconds of ``python -m module arguments``, over RUNS runs."""
    seconds: list[float] = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, check=True)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Print a line for each command line: seconds of ours, of the peer, and the ratio."""
    for arguments in (("--help",), (str(SMALL),)):
        ours = best("ge.tools.ge_opt", *arguments)
        peer = best("xdsl.tools.xdsl_opt", *arguments)
        shown = " ".join(Path(argument).name for argument in arguments)
        print(f"{shown:24} ge-opt {ours:.3f} s   xdsl-opt {peer:.3f} s   ratio {ours / peer:.2f}")


if __name__ == "__main__":
    main()
