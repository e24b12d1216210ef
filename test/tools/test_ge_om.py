"""ge-om: what it shows of our own files, what it extracts, and what it says of two files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.targets.ascend.om.container import PartitionType
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.writer import write_module
from ge.tools import ge_compiler, ge_om
from ge.tools.om_inspection import constants
from ge.tools.om_json import message_json
from ge.tools.reference import run_onnx

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "test" / "targets" / "ascend" / "om" / "inputs" / "small.mlir"


def random(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def model(path: Path, scale: float = 1.0) -> None:
    """A convolution for the device, and a cumulative sum for the host."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="block/conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="block/relu"),
        helper.make_node("CumSum", ["r", "axis"], ["y"], name="block/sum"),
    ]
    tensors = {"w": scale * random(8, 3, 3, 3), "b": random(8), "axis": np.array(1)}
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size, 8, 8]) for name, size in (("x", 3), ("y", 8))
    )
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("om")
    for name, scale in (("a", 1.0), ("b", 1.5)):
        model(folder / f"{name}.onnx", scale)
        options = [f"--model={folder / name}.onnx", f"--output={folder / name}.om", "--report=none"]
        ge_compiler.run([*options, "--input_shape=x:1,3,8,8"])
    return folder


def shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    ge_om.run(arguments)
    return capsys.readouterr().out


def test_info(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(shown(["info", str(folder / "a.om"), "--json"], capsys))
    assert facts["command"] == "ge-compiler --model=a.onnx --input_shape=x:1,3,8,8"
    assert facts["compiler"].startswith("graph-engine ") and facts["soc"] == "Ascend310P3"
    assert sum(part["size"] for part in facts["partitions"]) == facts["size"] == (folder / "a.om").stat().st_size
    assert [part["name"] for part in facts["partitions"]][2:4] == ["MODEL_INOUT_INFO", "MODEL_DEF"]
    assert facts["constants"] == {"count": 2, "bytes": 2 * 16 * 16 * 9 + 4 * 16, "saved": 0}
    assert facts["operators"]["Conv2D"] == 1 and facts["problems"] == []
    assert facts["inputs"] == [{"name": "x", "type": "float", "shape": [1, 3, 8, 8], "format": "NCHW"}]
    assert [each["name"] for each in facts["outputs"]] == ["y"]
    text = shown(["info", str(folder / "a.om")], capsys)
    assert "ge-compiler --model=a.onnx" in text and "MODEL_DEF" in text and "[1, 3, 8, 8]" in text


def test_equal_weights_are_stored_once(tmp_path: Path) -> None:
    """Zeros of a float32 bias are the first bytes of no larger constant, and those of another bias."""
    model(tmp_path / "model.onnx")
    proto = onnx.load(tmp_path / "model.onnx")
    (bias,) = (each for each in proto.graph.initializer if each.name == "b")
    bias.CopyFrom(numpy_helper.from_array(np.zeros(8, np.float32), "b"))
    second = helper.make_node("Conv", ["r", "w2", "b"], ["r2"], name="second", pads=[1, 1, 1, 1])
    proto.graph.node.insert(2, second)
    proto.graph.node[3].input[0] = "r2"
    proto.graph.initializer.append(numpy_helper.from_array(random(8, 8, 3, 3), "w2"))
    onnx.save(proto, tmp_path / "model.onnx")
    ge_compiler.run([f"--model={tmp_path / 'model.onnx'}", f"--output={tmp_path / 'model.om'}", "--report=none"])
    file = OmFile.open(tmp_path / "model.om")
    assert constants(file) == {"count": 4, "bytes": 2 * (2 * 16 * 16 * 9 + 4 * 16), "saved": 4 * 16}
    places = {op.name: (op.attr["value"].t.desc.data_offset, data) for op, data in file.constants()}
    assert len(places) == 4 and all(offset % 512 == 0 for offset, _ in places.values())
    first, second_weights = (places[name][0] for name in ("w", "w2"))
    assert first < second_weights


_AT_ANOTHER_TIME = """
import sys, time, datetime
now = time.time() + 400 * 86400
time.time, time.time_ns = lambda: now, lambda: int(now * 1e9)
class Later(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(now, tz)
datetime.datetime = Later
from ge.tools.ge_compiler import run
run(sys.argv[1:])
"""
"""ge-compiler under a clock that is 400 days ahead."""


@pytest.mark.parametrize("external", ["0", "1"])
def test_equal_input_and_options_give_equal_bytes(external: str, tmp_path: Path) -> None:
    """Whatever the seed of hashes, the folder, the time, the user and the language are."""
    written: list[dict[str, bytes]] = []
    for seed, zone in (("0", "UTC"), ("1", "Asia/Shanghai")):
        folder = tmp_path / f"work{seed}"
        folder.mkdir()
        model(folder / "model.onnx")
        options = [
            "--model=model.onnx",
            f"--output={'out' if external == '1' else f'out{seed}'}",
            "--report=none",
            f"--external_weight={external}",
        ]
        user = {"HOME": str(folder), "USER": f"user{seed}", "LC_ALL": "C" if seed == "0" else "C.UTF-8", "TZ": zone}
        environment = {**os.environ, **user, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        program = ["-c", _AT_ANOTHER_TIME] if seed == "1" else ["-m", "ge.tools.ge_compiler"]
        subprocess.run([sys.executable, *program, *options], cwd=folder, env=environment, check=True)
        files = [*folder.glob("*.om"), *folder.glob("*.weights")]
        assert len(files) == 1 + int(external)
        written.append({path.name if path.suffix != ".om" else "om": path.read_bytes() for path in files})
    assert written[0] == written[1]


def test_json_is_that_of_atc(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = json.loads(shown(["json", str(folder / "a.om")], capsys))
    (conv,) = [op for op in found["graph"][0]["op"] if op["type"] == "Conv2D"]
    attributes = {entry["key"]: entry["value"] for entry in conv["attr"]}
    assert attributes["pads"] == {"list": {"i": [1, 1, 1, 1], "val_type": "VT_LIST_INT"}}
    assert attributes["data_format"] == {"s": "NCHW"} and conv["input_desc"][0]["dtype"] == "DT_FLOAT16"
    output = tmp_path / "graph.json"
    ge_compiler.run(["--mode=1", f"--om={folder / 'a.om'}", f"--json={output}"])
    assert json.loads(output.read_text()) == found


def test_numbers_in_json_are_json() -> None:
    attribute = ir.AttrDef()
    attribute.list.f.extend([0.1, 16777216.0, 1e-45, float("nan"), float("-inf")])
    found = message_json(attribute)["list"]["f"]
    assert json.loads(json.dumps(found, allow_nan=False)) == [0.1, 16777216.0, 1e-45, "nan", "-inf"]
    assert message_json(ir.TensorDef(data=b"\xff\x00"))["data"] == "/wA="


def test_modes_of_the_compiler(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ge_compiler.run(["--mode=6", f"--om={folder / 'a.om'}"])
    assert capsys.readouterr().out == shown(["info", str(folder / "a.om")], capsys)
    for arguments, code in (
        (["--mode=1", "--om=a.om"], "GE2008"),
        (["--mode=6"], "GE2008"),
        (["--mode=6", "--om=a.om", "--json=x"], "GE2003"),
        (["--model=a.onnx", "--om=a.om"], "GE2003"),
        (["--mode=1", f"--om={folder / 'a.om'}", "--json=/nowhere/x.json"], "GE1003"),
    ):
        with pytest.raises(GeError) as error:
            ge_compiler.run(arguments)
        assert error.value.code == code, arguments


def test_dump(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [line.partition(": ")[0] for line in shown(["dump", str(folder / "a.om")], capsys).splitlines()]
    assert "block_conv" in names and "host.block/sum" in names
    text = shown(["dump", str(folder / "a.om"), "--kernel=block_conv"], capsys)
    assert "Conv2D 'block/conv' for block/conv, block/relu" in text and "cube.mmad" in text
    text = shown(["dump", str(folder / "a.om"), "--kernel=host.block/sum"], capsys)
    assert "onnx.CumSum" in text
    assert shown(["dump", str(folder / "a.om"), "--all"], capsys).count("// kernel '") == len(names)
    with pytest.raises(GeError) as error:
        ge_om.run(["dump", str(folder / "a.om"), "--kernel=nothing"])
    assert error.value.code == "GE2006" and "block_conv" in error.value.remedy


def test_extract(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = shown(["extract", str(folder / "a.om"), "-o", str(tmp_path)], capsys).split()
    assert all(Path(name).is_file() for name in written)
    index = json.loads((tmp_path / "index.json").read_text())
    arrays = [np.load(tmp_path / path) for path in index["weights"].values()]
    (weight,) = [array for array in arrays if array.ndim == 4]
    np.testing.assert_array_equal(weight, random(8, 3, 3, 3).astype(np.float16))  # in the shape of the model
    onnx.checker.check_model(onnx.load(tmp_path / index["kernels"]["host.block/sum"]))
    graph = onnx.load(tmp_path / "device.onnx")
    onnx.checker.check_model(graph)
    (conv,) = [node for node in graph.graph.node if node.op_type == "Conv2D"]
    metadata = {entry.key: entry.value for entry in conv.metadata_props}
    assert conv.domain == "ascend" and json.loads(metadata["ge.nodes"]) == ["block/conv", "block/relu"]
    assert [node.op_type for node in graph.functions[0].node][-1] == "CumSum"
    assert ([each.name for each in graph.graph.input], [each.name for each in graph.graph.output]) == (["x:0"], ["y"])


def test_the_graph_runs_elsewhere(folder: Path, tmp_path: Path) -> None:
    """In standard operators, under the names of the model, with the numbers of the model in float16."""
    ge_om.run(["extract", str(folder / "a.om"), "-o", str(tmp_path), "--graph"])
    graph = onnx.load(tmp_path / "graph.onnx")
    onnx.checker.check_model(graph, full_check=True)
    nodes = {node.name: node for node in graph.graph.node}
    assert [node.op_type for node in nodes.values()] == ["Conv", "Relu", "CumSum"]
    assert [*nodes] == ["block/conv", "block/relu", "block/sum"] and {node.domain for node in nodes.values()} == {""}
    (weight,) = [numpy_helper.to_array(each) for each in graph.graph.initializer if each.name == "w"]
    np.testing.assert_array_equal(weight, random(8, 3, 3, 3).astype(np.float16).astype(np.float32))
    x = random(1, 3, 8, 8)
    expected, found = (run_onnx(str(path), {"x": x})[1]["y"] for path in (folder / "a.onnx", tmp_path / "graph.onnx"))
    assert (abs(found - expected) <= 1e-3 * abs(expected).max() + 1e-3 * abs(expected)).all()


def test_a_constant_that_is_gone_is_one_error(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.om"
    path.write_bytes(bytes((folder / "a.om").read_bytes()))
    file = OmFile.open(path)
    start = file.container.offsets[PartitionType.WEIGHTS_DATA]
    data = bytearray(path.read_bytes())
    data[start] ^= 1
    path.write_bytes(data)
    with pytest.raises(GeError, match="is not among the weights") as error:
        ge_om.run(["extract", str(path), "-o", str(tmp_path), "--graph"])
    assert error.value.code == "GE5007"


def test_extract_of_one_part(folder: Path, tmp_path: Path) -> None:
    ge_om.run(["extract", str(folder / "a.om"), "-o", str(tmp_path / "parts"), "--graph"])
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        *("device.onnx", "graph.onnx", "index.json")
    ]
    (tmp_path / "file").write_text("")
    with pytest.raises(GeError) as error:
        ge_om.run(["extract", str(folder / "a.om"), "-o", str(tmp_path / "file")])
    assert error.value.code == "GE1003"


def test_diff(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert shown(["diff", *[str(folder / "a.om")] * 2], capsys) == "the files say the same\n"
    with pytest.raises(SystemExit) as status:
        ge_om.run(["diff", str(folder / "a.om"), str(folder / "b.om")])
    assert status.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert any("model attribute 'atc_cmdline'" in line for line in lines)
    assert any(line.startswith("weight '") and "apart, of numbers up to" in line for line in lines)
    assert any(line.startswith("partition 'WEIGHTS_DATA'") for line in lines)
    write_module(parse_module(SMALL), tmp_path / "small.om")
    text = (
        SMALL.read_text().replace("onnx.Relu", "onnx.Abs").replace('"mode"}', '"other"}').replace('= "mode"', '= "m"')
    )
    write_module(parse_module(text), tmp_path / "other.om")
    with pytest.raises(SystemExit):
        ge_om.run(["diff", str(tmp_path / "small.om"), str(tmp_path / "other.om")])
    found = capsys.readouterr().out
    assert "operator 'add': attribute 'mode' is mode, m" in found
    assert "kernel 'host.add'" in found and "onnx.Abs" in found


def test_a_kernel_with_names_that_are_no_text_is_one_error(folder: Path, tmp_path: Path) -> None:
    data = (folder / "a.om").read_bytes()
    damaged = tmp_path / "damaged.om"
    damaged.write_bytes(data.replace(b"\x0a\x02x0", b"\x0a\x02\xfe0"))
    assert damaged.read_bytes() != data
    with pytest.raises(GeError) as error:
        ge_om.run(["extract", str(damaged), "-o", str(tmp_path / "parts")])
    assert error.value.code == "GE5005"


def test_what_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    for command in ("info", "json", "dump"):
        with pytest.raises(GeError) as error:
            ge_om.run([command, str(tmp_path / "nothing.om")])
        assert error.value.code == "GE1001"
    (tmp_path / "text.om").write_text("no model")
    with pytest.raises(GeError) as error:
        ge_om.run(["diff", str(tmp_path / "text.om"), str(tmp_path / "text.om")])
    assert error.value.code == "GE5001"
