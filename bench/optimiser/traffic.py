"""What fusion saves on the device: launches, kernels, and bytes from and to device memory, pass by pass.

Each model is compiled by ge-compiler in a process of its own with ``--fusion_report``, which has the operations and the
bytes of operands and results before and after every pass, weights included. Nothing is run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MODELS: Mapping[str, str] = {
    "light_squeezenet": "",
    "pkg_ppocr_cls": "x:1,3,48,192",
    "torch_resnet18_bn": "",
    "torch_resnet50_bn": "",
    "torch_mobilenet_v2_bn": "",
    "torch_efficientnet_b4_bn": "",
}
"""Models that compile, and the shapes of their inputs where they leave them open."""

CONV_BN_RELU = "fuse-conv-bn-relu"

PUBLISHED_CUT = 0.48
"""What GE's own log says of a convolution with normalisation and activation: "memory access -48 %"."""


def measure_traffic(model: Path, shapes: str, root: Path) -> dict[str, Any]:
    """The fusion report of one model with the counts of its program, or ``{"error": ...}``."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "fusions.json")
        command = [sys.executable, "-m", "ge.tools.ge_compiler", f"--model={model}", f"--output={folder}/model.om"]
        command += [f"--fusion_report={report}", "--report=json", *([f"--input_shape={shapes}"] if shapes else [])]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode or not report.is_file():
            return {"error": (done.stderr.strip().splitlines() or ["no report"])[0]}
        fusions, program = json.loads(report.read_text()), json.loads(done.stdout)["compilation"]
    fused = [one for rule in fusions["rules"] if rule["rule"] == CONV_BN_RELU for one in rule["fusions"]]
    triples = [one for one in fused if len(one["operators"]) == 3]
    return {
        "access_bytes": fusions["access_bytes"],
        "passes": [each for each in fusions["passes"] if _has_effect(each)],
        "conv_bn_relu": _sum(triples),
        "conv_bn": _sum([one for one in fused if one not in triples]),
        **{key: program[key] for key in ("kernels", "launches", "host_operators")},
    }


def _sum(fusions: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many there are, and what they move together before and after."""
    sides = ("bytes_before", "bytes_after")
    return {"count": len(fusions), **{side: sum(each[side] for each in fusions) for side in sides}}


def _has_effect(each: Mapping[str, Any]) -> bool:
    keys = ("operations", "bytes")
    return any(each[f"{key}_before"] != each[f"{key}_after"] for key in keys)


def section(results: Mapping[str, Any]) -> list[str]:
    """The lines of the page."""
    done = {name: result for name, result in results.items() if "error" not in result}
    if not done:
        return []
    return [
        "## Kernels and device memory traffic",
        "",
        "The same passes and those of the device on models that are compiled for Ascend310P3. *traffic* is the size of",
        "all operands and results of all operations, weights included: what is read from and written to device memory",
        "when every operation is a launch, in the types that they have before (float32) and after (float16).",
        "",
        *_table(["model", "operations", "launches", "kernels", "host", "traffic MB", "after", "change"], _rows(done)),
        "",
        "By pass: how many operations it takes away, and its share of the traffic before all passes. The last rows are",
        "the convolutions that `fuse-conv-bn-relu` made: how many, and how much less they move than before.",
        "",
        *_table(["pass", *done], _pass_rows(done)),
        "",
        f"A published figure for this fusion is {PUBLISHED_CUT:.0%} less memory access. It depends on what is counted.",
        "A convolution, a normalisation and an activation on values of n bytes each with w bytes of weights move",
        "6n + w, fused 2n + w: two thirds less where weights are small, as in the first layers, and little where they",
        "are all, as in the last. The rows above are sums over each whole network, weights included.",
        "",
    ]


def _table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---", *["--:"] * (len(columns) - 1)], *rows)]


def _rows(results: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    for name, result in results.items():
        before, after = result["access_bytes"]["before"], result["access_bytes"]["after"]
        counts = [result["passes"][0]["operations_before"], result["launches"], result["kernels"]]
        counts += [result["host_operators"]]
        yield [name, *map(str, counts), f"{before / 1e6:.1f}", f"{after / 1e6:.1f}", f"{after / before - 1:+.0%}"]


def _pass_rows(results: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    names = dict.fromkeys(each["name"] for result in results.values() for each in result["passes"])
    for name in names:
        yield [f"`{name}`", *(_pass_cell(name, result) for result in results.values())]
    yield ["**conv + bn + activation**", *(_fused_cell(result["conv_bn_relu"]) for result in results.values())]
    yield ["**conv + bn or activation**", *(_fused_cell(result["conv_bn"]) for result in results.values())]


def _pass_cell(name: str, result: Mapping[str, Any]) -> str:
    runs = [each for each in result["passes"] if each["name"] == name]
    if not runs:
        return ""
    operations = sum(each["operations_after"] - each["operations_before"] for each in runs)
    saved = sum(each["bytes_after"] - each["bytes_before"] for each in runs)
    return f"{operations:+d}, {saved / result['access_bytes']['before']:+.1%}"


def _fused_cell(fused: Mapping[str, Any]) -> str:
    if not fused["bytes_before"]:
        return ""
    return f"{fused['count']}: {fused['bytes_after'] / fused['bytes_before'] - 1:+.0%}"
