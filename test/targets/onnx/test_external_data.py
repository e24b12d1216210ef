"""Writing models whose weights are too large for one message, and reading all forms of tensors without copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from exact import assert_same, model_of, value
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from ge.dialects.onnx import Constant
from ge.ir.attributes import WeightsAttr
from ge.ir.errors import GeError
from ge.ir.weights import Origin
from ge.targets.onnx import exporter
from ge.targets.onnx.exporter import save_model
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.wire import split, split_message

LARGE = np.random.default_rng(0).standard_normal((50, 50)).astype(np.float32)


def large_model() -> ModelProto:
    """Weights in initializers, in a node, and in a branch; small constants; elements of four bits."""
    nibbles = (np.arange(5001) % 16).astype(helper.tensor_dtype_to_np_dtype(TensorProto.UINT4))
    inner = helper.make_graph(
        [helper.make_node("Add", ["s", "inner"], ["t"])], "g", [], [value("t", 50, 50)], [tensor("inner", LARGE + 1)]
    )
    nodes = [
        helper.make_node("Constant", [], ["c"], value=tensor("", LARGE - 1)),
        helper.make_node("Sum", ["x", "w", "c", "small"], ["s"]),
        helper.make_node("If", ["b"], ["y"], then_branch=inner, else_branch=inner),
    ]
    tensors = [tensor("w", LARGE), tensor("small", np.ones((1, 50), np.float32)), tensor("n", nibbles)]
    inputs = [value("x", 50, 50), value("b", type=TensorProto.BOOL)]
    return model_of(nodes, inputs, [value("y", 50, 50)], initializer=tensors)


def tensor(name: str, array: NDArray[Any]) -> TensorProto:
    return numpy_helper.from_array(array, name)


@pytest.fixture
def small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let messages be full at 1000 bytes."""
    monkeypatch.setattr(exporter, "_MAX_MESSAGE_BYTES", 1000)


def test_a_model_written_without_copies_is_the_message_byte_for_byte(tmp_path: Path) -> None:
    """Weights in all places, among them bytes and texts that look like the place of a removed tensor."""
    mark = b"\x0a\x08location\x12\x02#0"
    model = large_model()
    model.graph.initializer.append(tensor("looks", np.frombuffer(mark * 200, np.uint8)))
    model.graph.initializer.append(tensor("few", np.frombuffer(mark * 3, np.uint8)))
    model.graph.doc_string = model.doc_string = mark.decode() * 30
    model.metadata_props.add(key="location", value="#0")
    module = import_model(model)
    save_model(module, tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == exporter.export_model(module).SerializeToString()
    assert_same(onnx.load(tmp_path / "m.onnx"), model)


@pytest.mark.usefixtures("small_messages")
def test_weights_go_next_to_the_model(tmp_path: Path) -> None:
    model = large_model()
    save_model(import_model(model), tmp_path / "m.onnx")
    bare = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    by_name = {each.name: each for each in bare.graph.initializer}
    for name, length in (("w", 10000), ("n", 2501)):
        fields = {entry.key: entry.value for entry in by_name[name].external_data}
        assert fields["location"] == "m.onnx.data"
        assert int(fields["offset"]) % 4096 == 0
        assert int(fields["length"]) == length
    assert not by_name["small"].external_data
    assert bare.ByteSize() < 3000
    assert_same(onnx.load(tmp_path / "m.onnx"), model)
    onnx.checker.check_model(str(tmp_path / "m.onnx"))


@pytest.mark.usefixtures("small_messages")
def test_model_is_written_over_the_one_that_it_was_read_from(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    save_model(import_model(large_model()), path)
    save_model(import_model(path), path)
    assert_same(onnx.load(path), large_model())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.onnx", "m.onnx.data"]


@pytest.mark.usefixtures("small_messages")
def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(GeError, match=r"GE1003.*No such file"):
        save_model(import_model(large_model()), tmp_path / "no" / "m.onnx")


def test_small_models_are_one_file(tmp_path: Path) -> None:
    save_model(import_model(large_model()), tmp_path / "m.onnx")
    assert [file.name for file in tmp_path.iterdir()] == ["m.onnx"]
    assert_same(onnx.load(tmp_path / "m.onnx"), large_model())


def test_model_in_memory_is_taken_apart_like_one_in_a_file() -> None:
    model = large_model()
    data = model.SerializeToString()
    skeleton, places = split(memoryview(data), 256)
    copy, pieces = ModelProto(), list[bytes]()
    split_message(model, copy, 256, pieces)
    assert copy == ModelProto.FromString(skeleton)
    assert copy.ByteSize() < 3000
    assert pieces == [data[place.offset : place.offset + place.length] for place in places]
    assert model == large_model()


def test_weights_are_views_of_the_file(tmp_path: Path) -> None:
    """Of the model, or of its data; but those of less than a byte are unpacked, and small ones are in the text."""
    onnx.save(large_model(), tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    origins: dict[str | None, Origin | None] = {}
    for op in import_model(tmp_path / "m.onnx").walk():
        if isinstance(op, Constant) and isinstance(literal := op.attributes["value"], WeightsAttr):
            origins[op.results[0].name_hint] = literal.data.origin
    files = {name: None if origin is None else origin.file.name for name, origin in origins.items()}
    assert files == {"w": "w.bin", "n": None, "c": "m.onnx", "inner": "w.bin"}


@pytest.mark.parametrize("data_type", [TensorProto.INT32, TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_elements_in_a_field_of_another_type(data_type: int, tmp_path: Path) -> None:
    """As many bytes as the shape needs, but floats."""
    wrong = TensorProto(name="w", data_type=data_type, float_data=[1.0] * 400)
    wrong.dims.append(1600 // np.dtype(helper.tensor_dtype_to_np_dtype(data_type)).itemsize)
    model = model_of([], [], [value("w", None, type=data_type)], initializer=[wrong])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(GeError, match=r"GE1014.*'w'.*field of another type"):
        import_model(tmp_path / "m.onnx")


def test_strings_outside_the_model(tmp_path: Path) -> None:
    strings = TensorProto(name="w", data_type=TensorProto.STRING, dims=[1], data_location=TensorProto.EXTERNAL)
    strings.external_data.add(key="location", value="w.bin")
    (tmp_path / "w.bin").write_bytes(b"abc")
    y = value("w", 1, type=TensorProto.STRING)
    onnx.save(model_of([], [], [y], initializer=[strings]), tmp_path / "m.onnx")
    with pytest.raises(GeError, match=r"GE1014.*'w' has strings outside the model"):
        import_model(tmp_path / "m.onnx")
