"""Target `onnx`: models through import, text, export and the whole compiler."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, cast

from onnx import GraphProto, ModelProto, helper

from bench.fuzz import byte_mutations, message_mutations
from bench.fuzz.passes import run_passes
from bench.fuzz.round_trip import check_round_trip
from bench.fuzz.sandbox import Progress
from bench.fuzz.small_models import EXTERNAL_FILE, external_model, small_models
from bench.fuzz.target import SeedFile, Target
from bench.fuzz.verdict import PASSED, Mismatch
from ge.ir.errors import GeError
from ge.ir.verifier import verify_module
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.tools.compilation import STAGES, run_stage
from ge.tools.compile_options import CompileOptions

_MAX_SEED_BYTES = 20_000
"""Larger models of the standard's tests take long, and show nothing that small ones do not."""


_MAX_PARTS = 60
"""How many elements of a list the search for a small case looks at."""


class OnnxTarget(Target):
    """See the module docstring. With `small`, only the seed files of this project, which are quick to get."""

    name = "onnx"

    def __init__(self, small: bool = False) -> None:
        self._small = small
        model, data = external_model()
        self._external = model
        self.companions = {EXTERNAL_FILE: data}
        self._words: list[str] = []

    def seed_files(self) -> list[SeedFile]:
        own = {**small_models(), "external": self._external}
        files = [SeedFile(name, model.SerializeToString(), name) for name, model in own.items()]
        if not self._small:
            files += _standard_models()
        self._words = sorted({word for file in files for word in _words(ModelProto.FromString(file.data))})
        return files

    def mutate(self, data: bytes, random: Random) -> bytes:
        other = self.choose(random).data
        if random.random() < 0.15:
            return byte_mutations.mutate(data, random, other)
        try:
            model = ModelProto.FromString(data)
        except Exception:
            return byte_mutations.mutate(data, random, other)
        if random.random() < 0.05:
            random.choice((_nest, _cycle, _set_opset))(model, random)
        else:
            message_mutations.mutate(model, random, self._words)
        return model.SerializeToString()

    def run(self, path: Path, progress: Progress) -> str:
        progress.at("import")
        module = import_model(path)
        progress.at("verify")
        verify_module(module)
        progress.at("text")
        check_round_trip(module)
        progress.at("export")
        export_model(module)
        run_passes(module, Random(path.read_bytes()), progress)
        options = CompileOptions(path)
        for stage in STAGES[1:]:
            progress.at(stage.name)
            run_stage(stage, module, options)
        progress.at("write")
        binary = model_bytes(module)
        progress.at("read")
        try:
            read_model(binary)
        except GeError as error:
            raise Mismatch(f"the file that was written cannot be read: {error.what}") from error
        progress.at("end")
        return PASSED

    def without_parts(self, data: bytes) -> list[bytes]:
        try:
            model = ModelProto.FromString(data)
        except Exception:
            return []
        smaller: list[bytes] = []
        for name in ("functions", "metadata_props", "opset_import"):
            smaller += _without_each(model, model, name, data)
        for name in ("node", "initializer", "value_info", "output", "input", "quantization_annotation"):
            smaller += _without_each(model, model.graph, name, data)
        return smaller


def _without_each(root: ModelProto, message: Any, name: str, data: bytes) -> list[bytes]:
    """The model without each of the elements of a list."""
    found: list[bytes] = []
    for position in range(min(len(getattr(message, name)), _MAX_PARTS)):
        whole: Any = type(message)()
        whole.CopyFrom(message)
        getattr(message, name).pop(position)
        found.append(root.SerializeToString())
        message.CopyFrom(whole)
    return [smaller for smaller in found if len(smaller) < len(data)]


def _standard_models() -> list[SeedFile]:
    """The small models of the ONNX standard's own tests, a family for each operator."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = cast("list[Any]", collect_testcases(None))
    found = {case.name: case.model for case in cases}
    package = find_spec("onnx")
    assert package is not None and package.submodule_search_locations is not None
    folder = Path(package.submodule_search_locations[0]) / "backend" / "test" / "data"
    for path in sorted(folder.glob("*/*/model.onnx")):
        found[path.parent.name] = ModelProto.FromString(path.read_bytes())
    files: list[SeedFile] = []
    for name, model in sorted(found.items()):
        data = model.SerializeToString()
        if len(data) <= _MAX_SEED_BYTES:
            files.append(SeedFile(name, data, model.graph.node[-1].op_type))
    return files


def _words(model: ModelProto) -> list[str]:
    """Names of operators, attributes and domains."""
    nodes = model.graph.node
    names = {word for node in nodes for word in (node.op_type, node.domain, *(a.name for a in node.attribute))}
    return sorted(name for name in names if name)


def _nest(model: ModelProto, random: Random) -> None:
    """Put the graph into branches of conditions, many inside each other."""
    for level in range(random.choice((2, 10, 30, 45))):
        inner = GraphProto()
        inner.CopyFrom(model.graph)
        del inner.input[:]
        outputs = [f"{value.name}_{level}" for value in model.graph.output]
        node = helper.make_node("If", ["condition"], outputs, then_branch=inner, else_branch=inner)
        del model.graph.node[:]
        model.graph.node.append(node)
        for value, name in zip(model.graph.output, outputs, strict=True):
            value.name = name
        if model.ByteSize() > 100_000:
            break


def _cycle(model: ModelProto, random: Random) -> None:
    """Let a node read what it, or a node after it, makes."""
    nodes = list(model.graph.node)
    if not nodes:
        return
    first = random.randrange(len(nodes))
    outputs = [name for node in nodes[first:] for name in node.output]
    if nodes[first].input and outputs:
        nodes[first].input[random.randrange(len(nodes[first].input))] = random.choice(outputs)


def _set_opset(model: ModelProto, random: Random) -> None:
    """Declare another version of an operator set."""
    if model.opset_import:
        random.choice(model.opset_import).version = random.choice((-1, 0, *range(1, 30), 1 << 31))
