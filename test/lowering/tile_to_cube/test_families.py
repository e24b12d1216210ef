"""Kernels of every family of graph operations: the instructions compute what the tiles mean, in strict mode."""

from collections.abc import Callable

import numpy as np
import pytest
from cube_kernels import LARGE, SMALL, check, filters, kernel_of, lowered, simulate, value, vector
from xdsl.dialects.builtin import IntegerAttr, TensorType, f16, f32, i64
from xdsl.ir import Operation

from ge.dialects import tile
from ge.dialects.graph import ActivationAttr
from ge.dialects.graph.compute import BinaryOp, Conv2DOp, MatmulOp, Pool2DOp, UnaryOp
from ge.dialects.graph.movement import CastOp, ConcatOp, GatherChannelsOp, TransDataOp
from ge.dialects.graph.normalization import SoftmaxOp
from ge.ir.attributes import with_layout
from ge.targets.ascend.soc import Soc

NC1HWC0, NZ = "NC1HWC0", "FRACTAL_NZ"
Make = Callable[[], Operation]

SOCS = {"large": LARGE, "small": SMALL}


def run(make: Make, soc: Soc, *, double_buffer: bool = True) -> None:
    """Check one operation on one chip."""
    kernel, inputs = kernel_of(make(), soc, double_buffer=double_buffer)
    check(kernel, inputs, soc)


def random_filters(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape) * 0.2


def conv(
    x: tuple[int, int, int, int],
    o: int,
    kernel: tuple[int, int],
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    *,
    bias: bool = True,
    **more: object,
) -> Make:
    def make() -> Operation:
        weights = filters(random_filters(o, x[1], *kernel))
        rows = vector(random_filters(o)) if bias else None
        return Conv2DOp(value(x, NC1HWC0), weights, rows, pads=pads, **more)  # type: ignore[arg-type]

    return make


RELU = ActivationAttr("relu")

CONVOLUTIONS = {
    "3x3": conv((1, 40, 14, 14), 72, (3, 3), (1, 1, 1, 1), activation=RELU),
    "3x3 without bias": conv((1, 16, 8, 8), 16, (3, 3), (1, 1, 1, 1), bias=False),
    "1x1 of two images": conv((2, 64, 14, 14), 128, (1, 1), activation=ActivationAttr("clip", 0.0, 6.0)),
    "7x7 with stride": conv((1, 3, 32, 32), 32, (7, 7), (3, 3, 3, 3), strides=(2, 2)),
    "1x1 with stride": conv((1, 64, 7, 7), 32, (1, 1), strides=(2, 2), bias=False),
    "dilated, sigmoid": conv(
        (1, 32, 15, 13), 48, (3, 3), (2, 2, 2, 2), dilations=(2, 2), activation=ActivationAttr("sigmoid")
    ),
    "uneven padding": conv((1, 20, 9, 11), 24, (2, 3), (0, 1, 1, 2), strides=(1, 2)),
    "columns": conv((1, 16, 30, 1), 16, (4, 1), (3, 0, 0, 0), strides=(2, 1)),
    "padding as wide as the window": conv((1, 20, 1, 6), 4, (3, 3), (2, 0, 3, 1)),
    "rows of padding alone": conv((2, 40, 3, 6), 40, (2, 2), (7, 1, 9, 4), strides=(2, 1)),
    "1x1 of one row, padded": conv((1, 16, 1, 6), 4, (1, 1), (0, 0, 0, 1)),
}


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(case: str, soc: str) -> None:
    run(CONVOLUTIONS[case], SOCS[soc])


@pytest.mark.parametrize("soc", SOCS)
def test_grouped_convolution(soc: str) -> None:
    run(lambda: Conv2DOp(value((1, 32, 9, 9), NC1HWC0), filters(random_filters(32, 16, 3, 3)), groups=2), SOCS[soc])


@pytest.mark.parametrize("seed", range(12))
def test_random_convolution(seed: int) -> None:
    """Any shape, stride, padding and dilation, on a chip where it takes many tiles."""
    random = np.random.default_rng(seed)
    height, width = random.integers(4, 16, 2)
    kernel = (int(random.integers(1, min(4, height))), int(random.integers(1, min(4, width))))
    pads = tuple(int(random.integers(0, size + 2)) for size in (*kernel, *kernel))
    options = {
        "strides": tuple(map(int, random.integers(1, 3, 2))),
        "dilations": tuple(
            int(random.integers(1, 3)) if (size - 1) * 2 < extent else 1
            for size, extent in zip(kernel, (height, width), strict=True)
        ),
    }
    x = (1, int(random.integers(1, 50)), int(height), int(width))
    make = conv(x, int(random.integers(1, 50)), kernel, pads, **options)  # type: ignore[arg-type]
    run(make, SMALL, double_buffer=bool(seed % 2))


MATMULS: dict[str, Make] = {
    "weights": lambda: MatmulOp(value((33, 64), NZ), filters(random_filters(64, 40)), vector(random_filters(40))),
    "one row": lambda: MatmulOp(value((1, 512), NZ), filters(random_filters(512, 100)), vector(random_filters(100))),
    "batches": lambda: MatmulOp(value((2, 33, 64), NZ), value((2, 64, 48), NZ)),
    "columns past the end": lambda: MatmulOp(value((11, 80), NZ), value((80, 67), NZ)),
    "rows of a resident operand": lambda: MatmulOp(value((1, 55, 96), NZ), value((1, 96, 64), NZ)),
}


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("case", MATMULS)
def test_matmul(case: str, soc: str) -> None:
    run(MATMULS[case], SOCS[soc])


POOLS: dict[str, tuple[tuple[int, ...], tuple[int, int], dict[str, object]]] = {
    "2x2": ((1, 32, 16, 16), (2, 2), {"strides": (2, 2)}),
    "3x3 padded": ((1, 32, 15, 15), (3, 3), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    "global": ((1, 48, 7, 7), (7, 7), {}),
    "ceil": ((2, 16, 9, 9), (3, 3), {"strides": (2, 2), "pads": (0, 1, 1, 0), "ceil_mode": True}),
}


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("case", POOLS)
def test_pooling(case: str, kind: str, soc: str) -> None:
    shape, kernel, options = POOLS[case]
    run(lambda: Pool2DOp(value(shape, NC1HWC0), kind, kernel, **options), SOCS[soc])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["relu", "sigmoid", "tanh", "hard_swish", "gelu", "mish", "leaky_relu", "softplus"])
def test_unary(kind: str) -> None:
    run(lambda: UnaryOp(value((1, 20, 5, 7), NC1HWC0), kind, 0.1), SMALL)


BINARIES: dict[str, Make] = {
    "same shape": lambda: BinaryOp("sub", value((1, 20, 5, 7), NC1HWC0), value((1, 20, 5, 7), NC1HWC0)),
    "per channel": lambda: BinaryOp("mul", value((2, 32, 5, 7), NC1HWC0), value((2, 32, 1, 1), NC1HWC0)),
    "rows": lambda: BinaryOp("add", value((5, 60)), value((60,))),
    "whole rows": lambda: BinaryOp("max", value((5, 64)), value((64,))),
    "odd rows": lambda: BinaryOp("min", value((3, 1001)), value((3, 1001))),
}


@pytest.mark.parametrize("case", BINARIES)
def test_binary(case: str) -> None:
    run(BINARIES[case], SMALL)


@pytest.mark.parametrize("shape", [(1, 100), (12, 64), (5, 77), (9, 300), (20, 16)])
def test_softmax(shape: tuple[int, int]) -> None:
    run(lambda: SoftmaxOp(value(shape), 1), SMALL if shape[1] < 300 else LARGE)


GATHERS: dict[str, Make] = {
    "concat": lambda: ConcatOp([value((1, 16, 6, 6), NC1HWC0), value((1, 32, 6, 6), NC1HWC0)], 1),
    "part of a block": lambda: GatherChannelsOp([value((1, 24, 6, 6), NC1HWC0)], range(8, 24)),
    "end to end": lambda: GatherChannelsOp([value((1, 24, 6, 6), NC1HWC0), value((1, 20, 6, 6), NC1HWC0)], range(44)),
    "shuffle": lambda: GatherChannelsOp([value((1, 32, 5, 5), NC1HWC0)], [i // 2 + 16 * (i % 2) for i in range(32)]),
    "many pieces": lambda: GatherChannelsOp([value((1, 34, 7, 7), NC1HWC0)], [2, 32, 23, 33, 19, 28, 3, 11]),
}


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("case", GATHERS)
def test_gather_channels(case: str, soc: str) -> None:
    run(GATHERS[case], SOCS[soc])


@pytest.mark.parametrize("to", [f16, f32], ids=str)
def test_cast(to: object) -> None:
    run(lambda: CastOp(value((3, 77), dtype=np.float32 if to == f16 else np.float16), to), SMALL)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize(
    ("shape", "format"),
    [
        *(((1, 16, 8, 8), NC1HWC0), ((1, 3, 10, 10), NC1HWC0), ((2, 40, 7, 7), NC1HWC0)),
        *(((33, 64), NZ), ((1, 100), NZ), ((5, 40), NZ), ((2, 7, 48), NZ)),
    ],
)
def test_trans_data(shape: tuple[int, ...], format: str, dtype: type) -> None:
    """From plain order and back, with and without a change of the element type."""
    stored = with_layout(TensorType(f16, shape), format)
    plain = TensorType(f16 if dtype is np.float16 else f32, shape)
    run(lambda: TransDataOp(value(shape, dtype=dtype), stored), SMALL)
    run(lambda: TransDataOp(value(shape, format), plain), SMALL)


LOOPS: dict[str, Make] = {
    "3x3": CONVOLUTIONS["3x3"],
    "7x7": CONVOLUTIONS["7x7 with stride"],
    "add": lambda: BinaryOp("add", value((40, 1001)), value((40, 1001))),
}


@pytest.mark.parametrize("case", LOOPS)
def test_double_buffering_hides_transfers(case: str) -> None:
    """The same kernel takes fewer cycles with two stages than with one."""
    cycles: list[int] = []
    for stages in (2, 1):
        kernel, inputs = kernel_of(LOOPS[case](), SMALL)
        for op in kernel.walk():
            if isinstance(op, tile.ForOp):
                op.stages = IntegerAttr(stages, i64)
        cycles.append(simulate(lowered(kernel, SMALL), kernel, inputs, SMALL, strict=False).cycles)
    assert cycles[0] < 0.9 * cycles[1]
