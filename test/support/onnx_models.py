"""Small ONNX models, and whether a module at the graph level computes what onnxruntime computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph.meaning import run_module
from ge.ir.registry import context, registry
from ge.targets.onnx.importer import import_model

Array = NDArray[Any]

F32 = 1e-5
"""Relative tolerance of float32 results."""

F16 = 1e-3
"""Relative tolerance of float16 results."""


class ModelBuilder:
    """Collects nodes: each method call adds one and gives the name of its first output."""

    def __init__(self, opset: int = 17, seed: int = 0) -> None:
        self.opset = opset
        self.random = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._constants: list[TensorProto] = []
        self._outputs: list[str] = []

    def input(self, name: str, *shape: int | str, dtype: int = TensorProto.FLOAT) -> str:
        """A model input."""
        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def constant(self, value: Any, dtype: Any = np.float32, name: str | None = None) -> str:
        """An initializer."""
        name = name or f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weights(self, *shape: int, scale: float = 1.0, offset: float = 0.0, name: str | None = None) -> str:
        """An initializer of normally distributed values."""
        return self.constant(self.random.standard_normal(shape) * scale + offset, name=name)

    def node(self, op_type: str, *inputs: str, name: str | None = None, outputs: int = 1, **attributes: Any) -> str:
        """A node; its outputs are called like it (and `name_1`, ... after the first)."""
        name = name or f"{op_type.lower()}{len(self._nodes)}"
        names = [name, *(f"{name}_{i}" for i in range(1, outputs))]
        self._nodes.append(helper.make_node(op_type, inputs, names, name=name, **attributes))
        return name

    def conv_bn(self, x: str, cin: int, cout: int, kernel: int = 3, *, group: int = 1, bias: bool = False) -> str:
        """Conv and BatchNormalization with random statistics."""
        w = self.weights(cout, cin // group, kernel, kernel, scale=0.2)
        b = [self.weights(cout)] if bias else []
        y = self.node("Conv", x, w, *b, pads=[kernel // 2] * 4, group=group)
        return self.node("BatchNormalization", y, *self.statistics(cout))

    def statistics(self, channels: int) -> list[str]:
        """Scale, bias, mean and (positive) variance."""
        variance = self.constant(self.random.uniform(0.5, 2.0, channels))
        return [self.weights(channels, offset=1.0), self.weights(channels), self.weights(channels), variance]

    def output(self, *names: str) -> None:
        """Mark values as outputs of the model."""
        self._outputs.extend(names)

    def build(self) -> ModelProto:
        """The checked model."""
        outputs = [onnx.ValueInfoProto(name=name) for name in self._outputs]
        graph = helper.make_graph(self._nodes, "test", self._inputs, outputs, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
        return model

    def random_inputs(self) -> dict[str, Array]:
        """Normally distributed values for all inputs."""
        return {
            value.name: self.random.standard_normal([dim.dim_value for dim in value.type.tensor_type.shape.dim]).astype(
                helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            )
            for value in self._inputs
        }


def branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    """A branch of an If whose last node gives what it gives."""
    return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(nodes[-1].output[0])])


def run_reference(model: ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What onnxruntime computes, without its own optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    results = cast("list[Array]", session.run(names, dict(inputs)))
    return dict(zip(names, results, strict=True))


def compile_to_graph(model: ModelProto, passes: Sequence[str] = ()) -> ModuleOp:
    """The model at the graph level, after `passes`; verified after each."""
    module = import_model(model)
    for name in ("convert-onnx-to-graph", *passes):
        run_pass(module, name)
    return module


def run_pass(module: ModuleOp, name: str, **options: Any) -> None:
    """Run one pass by its name, and verify the module."""
    pass_class: type[ModulePass] = registry().passes[name]()
    pass_class(**options).apply(context(), module)
    module.verify()


def assert_close(got: Mapping[str, Array], want: Mapping[str, Array], tolerance: float) -> None:
    """Fail unless outputs agree in names, shapes, types and values."""
    assert list(got) == list(want)
    for name, expected in want.items():
        actual = got[name]
        assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype), name
        if expected.dtype.kind != "f":
            np.testing.assert_array_equal(actual, expected, err_msg=name)
            continue
        a, b = actual.astype(np.float64), expected.astype(np.float64)
        difference, allowed = np.abs(a - b), tolerance * np.abs(b).max(initial=0.0) + tolerance * np.abs(b)
        assert np.all(difference <= allowed), f"{name}: {difference.max()} of {np.abs(b).max()}"


def check(builder: ModelBuilder, *passes: str, tolerance: float = F32) -> ModuleOp:
    """Compare the model after `passes` with onnxruntime on random inputs; the module that was run."""
    model, inputs = builder.build(), builder.random_inputs()
    want = run_reference(model, inputs)
    module = compile_to_graph(model, passes)
    assert_close(run_module(module, inputs), want, tolerance)
    return module
