"""Files that are not models, are damaged, or keep their tensors elsewhere."""

from __future__ import annotations

import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.wire import split

WEIGHTS = np.arange(300, dtype=np.float32)


def add_model(external: str | None = None, offset: int | None = None) -> onnx.ModelProto:
    """x + w; the tensor w is in the model, or in the file named: all of it, or 1200 bytes from an offset on."""
    tensor = numpy_helper.from_array(WEIGHTS, "w")
    if external is not None:
        length = None if offset is None else 1200
        external_data_helper.set_external_data(tensor, external, offset, length)
        tensor.ClearField("raw_data")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [300]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def small_model() -> bytes:
    """A model of opset 11 in which most bytes matter: nodes of several kinds, a tensor, attributes, a subgraph."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    t = helper.make_tensor_value_info("t", TensorProto.FLOAT, [2, 3])
    branch = helper.make_graph([helper.make_node("Neg", ["a"], ["t"])], "b", [], [t])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True), "c")),
        helper.make_node("Mul", ["x", "w"], ["m"]),
        helper.make_node("Squeeze", ["m"], ["s"], axes=[0]),
        helper.make_node("Clip", ["s", "", "w1"], ["a"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
    ]
    tensors = [
        numpy_helper.from_array(np.ones((1, 2, 3), np.float32), "w"),
        numpy_helper.from_array(WEIGHTS[6:7].reshape(()), "w1"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    return model.SerializeToString()


SMALL = small_model()


def computes(source: Path | onnx.ModelProto) -> None:
    outputs = run_module(import_model(source), {"x": np.ones(300, np.float32)})
    np.testing.assert_array_equal(outputs["y"], WEIGHTS + 1)


def test_model_in_memory_and_in_a_file(tmp_path: Path) -> None:
    computes(add_model())
    onnx.save(add_model(), tmp_path / "m.onnx")
    computes(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "GE1010"),
        (b"not a model", "GE1010"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "GE1010"),
        (onnx.ModelProto(ir_version=8).SerializeToString(), "GE1010"),
        (add_model().SerializeToString()[:-500], "GE1011"),
        (add_model().SerializeToString()[:-1], "GE1011"),
        (add_model().SerializeToString()[:9], "GE1011"),
    ],
    ids=["empty", "text", "image", "without graph", "half", "last byte missing", "beginning"],
)
def test_bad_file(content: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    with pytest.raises(GeError, match=f"{code}.*bad.onnx"):
        import_model(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.onnx", tmp_path):
        with pytest.raises(GeError, match="GE1001"):
            import_model(path)


@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=4))
@settings(max_examples=400, deadline=None)
def test_damaged_model_is_an_error_of_ours_or_no_error(position: int, damage: bytes) -> None:
    """Other exceptions than GeError let the test fail."""
    data = bytearray(SMALL)
    position %= len(data)
    data[position : position + len(damage)] = damage
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.onnx"
        path.write_bytes(data)
        with contextlib.suppress(GeError):
            import_model(path).verify()


def test_split_takes_large_tensors_out(tmp_path: Path) -> None:
    model = add_model()
    data = model.SerializeToString()
    skeleton, pieces = split(memoryview(data), 256)
    (piece,) = pieces
    assert data[piece.offset : piece.offset + piece.length] == WEIGHTS.tobytes()
    tensor = onnx.ModelProto.FromString(skeleton).graph.initializer[0]
    assert (tensor.name, list(tensor.dims), tensor.data_type) == ("w", [300], TensorProto.FLOAT)
    assert split(memoryview(data), 10**6) == (data, [])


@pytest.mark.parametrize("in_memory", [True, False])
def test_tensor_that_says_that_its_data_are_in_the_message(in_memory: bool, tmp_path: Path) -> None:
    """As the default is; some tools write it."""
    model = add_model()
    model.graph.initializer[0].data_location = TensorProto.DEFAULT
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    outputs = run_module(import_model(model if in_memory else path), {"x": np.ones(300, np.float32)})
    np.testing.assert_array_equal(outputs["y"], WEIGHTS + 1)


@pytest.mark.parametrize("field", ["float_data", "double_data"])
def test_elements_in_typed_fields_are_not_decoded(field: str) -> None:
    dtype, data_type = (np.float32, TensorProto.FLOAT) if field == "float_data" else (np.float64, TensorProto.DOUBLE)
    model = add_model()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_type = data_type
    getattr(tensor, field).extend(WEIGHTS.tolist())
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = data_type
    assert len(split(memoryview(model.SerializeToString()), 256)[1]) == 1
    outputs = run_module(import_model(model), {"x": np.ones(300, dtype)})
    np.testing.assert_array_equal(outputs["y"], WEIGHTS.astype(dtype) + 1)


def test_tensor_of_another_size_than_its_shape() -> None:
    model = add_model()
    model.graph.initializer[0].dims[0] = 299
    with pytest.raises(GeError, match=r"GE1014.*'w' of shape \[299\] needs 1196 bytes, has 1200"):
        import_model(model)


@pytest.mark.parametrize("location", ["w.bin", "data/w.bin"])
def test_external_data(location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found next to the model from any working directory, also through links as download caches make them."""
    store = tmp_path / "store"
    (store / location).parent.mkdir(parents=True)
    (store / location).write_bytes(WEIGHTS.tobytes())
    onnx.save(add_model(location), store / "m.onnx")
    computes(store / "m.onnx")
    cache = tmp_path / "cache"
    (cache / location).parent.mkdir(parents=True)
    (cache / location).symlink_to(store / location)
    (cache / "m.onnx").symlink_to(store / "m.onnx")
    monkeypatch.chdir(tmp_path)
    computes(Path("cache/m.onnx"))


def test_external_data_with_offset_and_length(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(4096) + WEIGHTS.tobytes() + bytes(10))
    onnx.save(add_model("w.bin", 4096), tmp_path / "m.onnx")
    computes(tmp_path / "m.onnx")


def test_external_data_missing_or_short(tmp_path: Path) -> None:
    onnx.save(add_model("w.bin"), tmp_path / "m.onnx")
    with pytest.raises(GeError, match=r"GE1012.*'w' lies in '.*w.bin': No such file"):
        import_model(tmp_path / "m.onnx")
    (tmp_path / "w.bin").write_bytes(bytes(100))
    with pytest.raises(GeError, match=r"GE1014.*needs 1200 bytes, has 100"):
        import_model(tmp_path / "m.onnx")
    onnx.save(add_model("w.bin", 50), tmp_path / "m.onnx")
    with pytest.raises(GeError, match=r"GE1012.*needs bytes 50 to 1250"):
        import_model(tmp_path / "m.onnx")


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname", "data/../../w.bin", "link.bin", ""])
def test_external_data_outside_the_folder(location: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    onnx.save(add_model(location), folder / "m.onnx")
    with pytest.raises(GeError, match=rf"GE1013.*'w' lies in '{location}'"):
        import_model(folder / "m.onnx")


@pytest.mark.parametrize(
    ("location", "offset", "length", "message"),
    [
        ("w.bin", "x", "1200", "GE1012.*offset or length 'x', which is no number"),
        ("w.bin", "-4", "1200", "GE1012.*offset or length '-4', which is no number"),
        ("w.bin", "0", "1200.0", "GE1012.*offset or length '1200.0', which is no number"),
        ("#0", "0", "1200", "GE1013.*'w' lies in '#0'"),
        ("#x", "0", "1200", "GE1013.*'w' lies in '#x'"),
    ],
)
def test_external_data_with_nonsense(location: str, offset: str, length: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
    model = add_model("w.bin")
    tensor = model.graph.initializer[0]
    del tensor.external_data[:]
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=value)
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(GeError, match=f"(?s){message}"):
        import_model(tmp_path / "m.onnx")


def test_names_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(SMALL.replace(b"Mul", b"M\xff\xff"))
    with pytest.raises(GeError, match=r"GE1020.*field 'op_type' of a NodeProto is not UTF-8 text"):
        import_model(path)


def test_element_types_that_do_not_exist() -> None:
    for number in (0, 99, -1):
        model = onnx.ModelProto.FromString(SMALL)
        model.graph.initializer[0].data_type = number
        with pytest.raises(GeError, match=f"GE1020.*'w' has element type number {number}, which does not exist"):
            import_model(model)


@pytest.mark.parametrize(
    ("dims", "indices", "message"),
    [
        ([-2], [0], "shape .-2."),
        ([4], [4], "indices from 4 to 4"),
        ([4], [-1], "indices from -1"),
        ([4], [[0, 0]], "."),
    ],
)
def test_sparse_tensors_that_do_not_fit(dims: list[int], indices: list[int], message: str) -> None:
    values = numpy_helper.from_array(np.ones(1, np.float32), "s")
    sparse = onnx.SparseTensorProto(
        values=values, indices=numpy_helper.from_array(np.array(indices, np.int64), "i"), dims=dims
    )
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Identity", ["s"], ["y"])], "g", [], [y], sparse_initializer=[sparse])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(GeError, match=f"GE1014.*sparse tensor 's'.*({message})"):
        import_model(model)


def functions_model(bodies: dict[str, list[str]]) -> onnx.ModelProto:
    """A model that calls the first function; each function calls those in its list one after the other."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    functions: list[onnx.FunctionProto] = []
    for name, called in bodies.items():
        values = ["a", *(f"v{number}" for number in range(len(called) - 1)), "b"]
        nodes = [
            helper.make_node(callee, [values[number]], [values[number + 1]], domain="" if callee == "Relu" else "local")
            for number, callee in enumerate(called)
        ]
        functions.append(helper.make_function("local", name, ["a"], ["b"], nodes, opsets))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    node = helper.make_node(next(iter(bodies)), ["x"], ["y"], domain="local")
    graph = helper.make_graph([node], "g", [x], [y])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)


def test_functions_that_double_each_other_are_counted_before_they_are_inlined() -> None:
    doubling = {f"f{number}": [f"f{number + 1}"] * 2 for number in range(64)}
    with pytest.raises(GeError, match=r"GE1020.*come to [0-9]{20} nodes") as error:
        import_model(functions_model({**doubling, "f64": ["Relu"]}))
    assert "200000" in error.value.why
    import_model(functions_model({"f": ["g", "g"], "g": ["Relu"] * 3}))


def test_functions_that_call_each_other_in_a_circle() -> None:
    for bodies in ({"f": ["f"]}, {"f": ["g"], "g": ["h"], "h": ["g"]}):
        with pytest.raises(GeError, match=r"GE1020.*function 'local::[fg]' calls itself"):
            import_model(functions_model(bodies))


def test_external_data_of_a_model_in_memory() -> None:
    with pytest.raises(GeError, match="GE1013"):
        import_model(add_model("w.bin"))


def test_undefined_value() -> None:
    model = add_model()
    model.graph.node[0].input[1] = "v"
    model.graph.node[0].name = "sum"
    with pytest.raises(GeError, match=r"(?s)GE1018.*'v' is not defined.*node 'sum' \(Add\)"):
        import_model(model)


def test_input_shapes() -> None:
    model = add_model()
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param = "n"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
    module = import_model(model, {"x": [300]})
    assert "tensor<?xf32>" not in str(module)
    for shapes, message in (
        ({"z": [1]}, r"'z' is not an input of the model; its inputs are x\[n\]"),
        ({"x": [1, 2]}, r"'x' cannot have shape 1,2: it is x\[n\]"),
        ({"x": [0]}, "cannot have shape 0"),
    ):
        with pytest.raises(GeError, match=f"GE1019.*{message}"):
            import_model(model, shapes)
    with pytest.raises(GeError, match=r"GE1019.*it is x\[300\]"):
        import_model(add_model(), {"x": [301]})


def test_placeholders_are_no_names_of_dimensions() -> None:
    """A dimension called ``?`` is not equal to another that is called so, too."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["?", "?", "n", "n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["?", "?", "n", "n"])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    module = import_model(model)
    assert 'onnx.dims = ["", "", "n", "n"]' in str(module)
    assert export_model(module).graph.input[0] == x
