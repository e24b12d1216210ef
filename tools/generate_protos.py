"""Generate the Python modules of the OM file's protobuf messages from their ``.proto`` files.

    python -m ge.tools.generate_protos

Writes ``*_pb2.py`` and ``*_pb2.pyi`` next to the sources in ``targets/ascend/om/proto``. The output is committed, so
that neither installing nor running the compiler needs a protobuf compiler. Needs ``grpcio-tools==1.74.0``, whose output
works with every protobuf runtime from 6.31.1 on, the oldest one that onnx allows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "targets/ascend/om/proto"


def main() -> int:
    """Run the protobuf compiler on every ``.proto`` file of :data:`FOLDER`; return its exit status."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / FOLDER).glob("*.proto"))
    compiler = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={ROOT}"]
    return subprocess.run([*compiler, f"--python_out={ROOT}", f"--pyi_out={ROOT}", *sources], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
