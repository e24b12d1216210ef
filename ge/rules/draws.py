"""How inputs and attributes of an operator are drawn at random, so that the operator accepts them.

An entry of :data:`INPUTS` gives the shape of an input, or for one that is a list of integers its elements, from the
types of the inputs before it. What has no entry is drawn as the operand of an elementwise operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ge.dialects.onnx.schema import AttributeSpec

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Drawing:
    """What is known when an input or attribute is drawn."""

    random: np.random.Generator
    shapes: Sequence[Sequence[int]]
    """Of the inputs before this one; an absent one has none, so that positions may shift."""
    attributes: Mapping[str, Any]
    rank: int | None = None
    """What a condition asks of the rank, if it does."""

    @property
    def first(self) -> Sequence[int]:
        """The shape of the first input."""
        return self.shapes[0]

    def some(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return int(self.random.integers(low, high + 1))


Shape: TypeAlias = tuple[int, ...]
Draw: TypeAlias = Callable[[Drawing], Shape | Array]
"""A tuple is the shape of an input, an array are its elements."""


def any_shape(of: Drawing) -> Shape:
    """A small shape of any rank up to 4."""
    return _sizes(of, 0)


def _sizes(of: Drawing, least: int) -> Shape:
    """Sizes of a rank from ``least`` to 4; often all the same, so that axes in a wrong order still fit; some are 0."""
    rank = of.some(least, 4) if of.rank is None else of.rank
    same = of.some(2, 4)
    sizes = [same] * rank if of.some(0, 2) == 0 else [of.some(1, 5) for _ in range(rank)]
    if rank and of.some(0, 4) == 0:
        sizes[of.some(0, rank - 1)] = 0
    return tuple(sizes)


def broadcastable(of: Drawing) -> Shape:
    """A shape that combines with the first: the same, with ones in it, shorter, or a single number."""
    shape = list(of.first)
    match of.some(0, 3):
        case 0:
            return tuple(shape)
        case 1:
            return tuple(1 if of.some(0, 1) else size for size in shape)
        case 2:
            return tuple(shape[of.some(0, len(shape)) :])
        case _:
            return ()


def _axes(of: Drawing) -> Array:
    """Some axes of the first input: often the last ones, as normalisations have them."""
    rank = max(1, len(of.first))
    count = of.some(1, rank)
    axes = np.arange(rank)[-count:] if of.some(0, 1) else np.sort(of.random.choice(rank, count, replace=False))
    return (axes - rank if of.some(0, 1) else axes).astype(np.int64)


def _new_axes(of: Drawing) -> Array:
    """Axes of the result that are new."""
    count = of.some(1, 2)
    return np.sort(of.random.choice(len(of.first) + count, count, replace=False)).astype(np.int64)


def _unit_axes(of: Drawing) -> Array:
    """Axes of size one."""
    return np.array([axis for axis, size in enumerate(of.first) if size == 1], np.int64)


def _new_shape(of: Drawing) -> Array:
    """Another shape for the elements of the first input, perhaps with -1 for a size, or 0 for one that stays."""
    stays = bool(of.first) and of.some(0, 2) == 0
    rest = math.prod(of.first[1:] if stays else of.first)
    sizes = [0] if stays else list[int]()
    while rest > 1 and len(sizes) < 4:
        divisors = [size for size in range(1, rest + 1) if rest % size == 0]
        sizes.append(int(of.random.choice(divisors)))
        rest //= sizes[-1]
    sizes.append(rest)
    if of.some(0, 1):
        sizes[of.some(int(stays), len(sizes) - 1)] = -1
    return np.array(sizes, np.int64)


def _right_matrix(of: Drawing) -> Shape:
    """The right operand of MatMul."""
    inner = of.first[-1] if of.first else 1
    if of.rank == 1:
        return (inner,)
    batch = tuple(of.first[:-2]) if of.rank is None or of.rank > 2 else ()
    return (*batch, inner, of.some(1, 5))


def _gemm_b(of: Drawing) -> Shape:
    inner = of.first[0 if of.attributes.get("transA") else 1] if len(of.first) == 2 else 1
    return (of.some(1, 5), inner) if of.attributes.get("transB") else (inner, of.some(1, 5))


def _gemm_c(of: Drawing) -> Shape:
    a, b = of.shapes[:2]
    m = a[1 if of.attributes.get("transA") else 0]
    n = b[0 if of.attributes.get("transB") else 1]
    shapes: list[Shape] = [(n,), (1, n), (m, 1), (m, n), (1,), ()]
    return shapes[of.some(0, len(shapes) - 1)]


def _matrix(of: Drawing) -> Shape:
    return (of.some(1, 5), of.some(1, 5))


def _at_least_vector(of: Drawing) -> Shape:
    return _sizes(of, 1)


def _normalised(of: Drawing) -> Shape:
    """The axes that a layer normalisation is over."""
    return tuple(of.first[of.attributes.get("axis", -1) :])


def _channels(of: Drawing) -> Shape:
    return (of.first[1],)


def _image(of: Drawing) -> Shape:
    return (of.some(1, 2), of.some(1, 4), of.some(3, 6), of.some(3, 6))


def _filters(of: Drawing) -> Shape:
    group = of.attributes.get("group", 1)
    sizes = of.attributes.get("kernel_shape", (of.some(1, 3), of.some(1, 3)))
    return (group * of.some(1, 4 // group), of.first[1] // group, *sizes)


def _transposed_filters(of: Drawing) -> Shape:
    """Those of ConvTranspose are counted by the input first."""
    sizes = of.attributes.get("kernel_shape", (of.some(1, 3), of.some(1, 3)))
    return (of.first[1], of.some(1, 3), *sizes)


def _transposed_count(of: Drawing) -> Shape:
    return (of.shapes[1][1] * of.attributes.get("group", 1),)


def _filter_count(of: Drawing) -> Shape:
    return (of.shapes[1][0],)


def number(of: Drawing) -> Shape:
    """An input that is a tensor without dimensions."""
    return ()


def _indices(of: Drawing) -> Array:
    size = of.first[int(of.attributes.get("axis", 0))]
    return of.random.integers(-size, size, of.some(1, 4))


INPUTS: Mapping[tuple[str, int], Draw] = {
    **{(f"Reduce{kind}", 0): _at_least_vector for kind in ("Mean", "Sum", "Max", "Min", "Prod", "L1", "L2")},
    **{(f"Reduce{kind}", 1): _axes for kind in ("Mean", "Sum", "Max", "Min", "Prod", "L1", "L2")},
    **{(name, 0): _at_least_vector for name in ("Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization")},
    **{("LayerNormalization", position): _normalised for position in (1, 2)},
    **{("BatchNormalization", position): _channels for position in (1, 2, 3, 4)},
    **{
        (name, 0): _image
        for name in ("Conv", "ConvTranspose", "BatchNormalization", "AveragePool", "MaxPool", "GlobalAveragePool")
    },
    **{("Clip", position): number for position in (1, 2)},
    ("Conv", 1): _filters,
    ("Conv", 2): _filter_count,
    ("ConvTranspose", 1): _transposed_filters,
    ("ConvTranspose", 2): _transposed_count,
    ("Gather", 0): _at_least_vector,
    ("Gather", 1): _indices,
    ("Gemm", 0): _matrix,
    ("Gemm", 1): _gemm_b,
    ("Gemm", 2): _gemm_c,
    ("MatMul", 0): _at_least_vector,
    ("MatMul", 1): _right_matrix,
    ("RMSNormalization", 1): _normalised,
    ("Reshape", 1): _new_shape,
    ("Squeeze", 1): _unit_axes,
    ("Unsqueeze", 1): _new_axes,
}
"""By operator and position of the input."""


# Attributes


def _perm(of: Drawing) -> Any:
    return [int(axis) for axis in of.random.permutation(len(of.first))]


def _axis(of: Drawing) -> Any:
    return of.some(-len(of.first), len(of.first) - 1) if of.first else 0


def _flag(of: Drawing) -> Any:
    return of.some(0, 1)


def _factor(of: Drawing) -> Any:
    return float(of.random.choice([1.0, 0.5, 2.0, -1.5]))


def _spatial(low: int, high: int, times: int = 1) -> Callable[[Drawing], Any]:
    """Integers, so many for each axis of the first input behind batch and channels."""
    return lambda of: [of.some(low, high) for _ in range(times * (len(of.first) - 2))]


def _group(of: Drawing) -> Any:
    """A number of groups that divides the channels."""
    return int(of.random.choice([count for count in (1, 2, 3, 4) if of.first[1] % count == 0]))


def _one_of(*choices: str) -> Callable[[Drawing], Any]:
    return lambda of: str(of.random.choice(choices))


ATTRIBUTES: Mapping[str, Callable[[Drawing], Any]] = {
    "allowzero": lambda of: 0,
    "alpha": _factor,
    "approximate": _one_of("none", "tanh"),
    "auto_pad": _one_of("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    "axis": _axis,
    "beta": _factor,
    "coordinate_transformation_mode": _one_of(
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "output_half_pixel"
    ),
    "dilations": _spatial(1, 2),
    "direction": _one_of("LEFT", "RIGHT"),
    "epsilon": lambda of: float(of.random.choice([1e-5, 1e-3, 0.5])),
    "group": _group,
    "keepdims": _flag,
    "kernel_shape": _spatial(1, 3),
    "nearest_mode": _one_of("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "padding_mode": _one_of("zeros", "border", "reflection"),
    "pads": _spatial(0, 1, times=2),
    "perm": _perm,
    "reduction": _one_of("none", "add", "mul", "max", "min"),
    "strides": _spatial(1, 2),
    "transA": _flag,
    "transB": _flag,
}
"""By name: these mean the same for every operator that has them."""

MODES: Mapping[str, Callable[[Drawing], Any]] = {
    "DepthToSpace": _one_of("DCR", "CRD"),
    "GridSample": _one_of("linear", "nearest", "cubic"),
    "Pad": _one_of("constant", "reflect", "edge", "wrap"),
    "Resize": _one_of("nearest", "linear", "cubic"),
    "RoiAlign": _one_of("avg", "max"),
}
"""Of the attribute `mode`, by operator."""


def draw_of(op_type: str, spec: AttributeSpec) -> Callable[[Drawing], Any] | None:
    """How an attribute of an operator is drawn: by its name, else a flag by its default; None when nothing is known.

    What an operator refuses together is not drawn again: the instance has no meaning, and is left out.
    """
    if spec.name == "mode":
        return MODES.get(op_type)
    is_flag = spec.kind == "int" and spec.default in (0, 1)
    return ATTRIBUTES.get(spec.name) or (_flag if is_flag else _factor if spec.kind == "float" else None)


OPEN = 4
"""One of so many attributes that a pattern leaves open is drawn, the others have the default of the standard."""

KINDS_OF_ATTRIBUTES: Mapping[str, Callable[[Drawing], Any]] = {
    "float": _factor,
    "floats": lambda of: [_factor(of) for _ in range(of.some(1, 3))],
    "int": lambda of: of.some(0, 3),
    "ints": lambda of: [of.some(0, 3) for _ in range(of.some(1, 3))],
}
"""By kind, where a plug-in defines the operator and nothing is known of the meaning of its attributes."""
