"""Rules of operators whose result has a shape of its own: filled, random and counted tensors, windows and spectra."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.elements import DATA_TYPES
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.reshaping import unknown_dims
from ge.dialects.onnx.shapes.values import Dim, Shape, Tensor, shape_text
from ge.maths.symbols import bounds, maximum, quotient, quotient_up


def constant(node: Node) -> Sequence[Result]:
    """The type and contents of the constant."""
    value = node.attribute("value")
    return [value if isinstance(value, Tensor) else None]


def constant_of_shape(node: Node) -> Sequence[Result]:
    """The shape in the input, in the element type of attribute `value`, which is f32 without it."""
    value = node.attribute("value")
    element = value.element if isinstance(value, Tensor) else "f32"
    shape = node.integers(0)
    if shape is not None and any(dim is not None and (bounds(dim)[1] or 0) < 0 for dim in shape):
        node.fail(f"shape {shape_text(shape)} has a negative size")
    return [Tensor(element, unknown_dims(node, 0) if shape is None else shape)]


def counted_range(node: Node) -> Sequence[Result]:
    """A vector of (limit - start) / delta elements, rounded up."""
    return [(range_length(node),)]


def range_length(node: Node) -> Dim:
    """The number of elements of a `Range`."""
    start, limit, delta = (node.number(position) for position in range(3))
    if start is None or limit is None or delta is None:
        return None
    if isinstance(start, float) or isinstance(limit, float) or isinstance(delta, float):
        numbers = [value for value in (start, limit, delta) if isinstance(value, int | float)]
        if len(numbers) < 3 or not all(map(math.isfinite, numbers)) or not numbers[2]:
            return None
        return max(0, math.ceil((numbers[1] - numbers[0]) / numbers[2]))
    if delta == 0:
        node.fail("the step of a range is zero")
    return maximum(0, quotient_up(limit - start, delta))


def stated_shape(node: Node) -> Sequence[Result]:
    """The shape and element type in the attributes."""
    shape = node.attribute("shape") or ()
    if any(size < 0 for size in shape):
        node.fail(f"shape {list(shape)} has a negative size")
    return [Tensor(DATA_TYPES.get(node.attribute("dtype")), tuple(shape))]


def multinomial(node: Node) -> Sequence[Result]:
    """[batch, number of samples]."""
    x = node.expect_rank(0, 2)
    shape: Shape = (None if x is None else x[0], node.attribute("sample_size"))
    return [Tensor(DATA_TYPES.get(node.attribute("dtype")), shape)]


def window(node: Node) -> Sequence[Result]:
    """A vector as long as the input says."""
    return [Tensor(DATA_TYPES.get(node.attribute("output_datatype")), (node.scalar(0),))]


def mel_weights(node: Node) -> Sequence[Result]:
    """[dft_length / 2 + 1, number of bins]."""
    length = node.scalar(1)
    rows = None if length is None else quotient(length, 2) + 1
    return [Tensor(DATA_TYPES.get(node.attribute("output_datatype")), (rows, node.scalar(0)))]


def _spectrum(length: Dim, one_sided: bool) -> Dim:
    return quotient(length, 2) + 1 if one_sided and length is not None else length


def fourier(node: Node) -> Sequence[Result]:
    """The input with the length of the transform (or the half of it) at the axis, and two or one parts at the end."""
    x, one_sided, inverse = node.expect_least_rank(0, 2), node.attribute("onesided"), node.attribute("inverse")
    parts = 1 if one_sided and inverse else 2
    if x is None:
        return [None]
    axis = node.scalar(2) if node.has(2) else -2
    if not isinstance(axis, int):
        keeps = not node.has(1) and not one_sided
        return [(*(x[:-1] if keeps else (None,) * (len(x) - 1)), parts)]
    axis = node.axis(axis, len(x))
    length = node.scalar(1) if node.has(1) else x[axis]
    if not node.has(1) and one_sided and inverse and length is not None:
        length = 2 * (length - 1)
    result = [*x[:-1], parts]
    result[axis] = _spectrum(length, bool(one_sided and not inverse))
    return [tuple(result)]


def short_time_fourier(node: Node) -> Sequence[Result]:
    """[N, length, parts]: [N, frames, frequencies, 2]."""
    x, step, width = node.expect_rank(0, 3) or (None,) * 3, node.scalar(1), node.scalar(3)
    if not node.has(3):
        width = node.length(2) if node.has(2) else x[1]
    frames: Dim = None
    if x[1] is not None and step is not None and width is not None:
        if step == 0:
            node.fail("the step between frames is zero")
        frames = quotient(x[1] - width, step) + 1
    return [(x[0], frames, _spectrum(width, bool(node.attribute("onesided"))), 2)]


def image(node: Node) -> Sequence[Result]:
    """[height, width, channels]: the size depends on the data."""
    return [(None, None, 1 if node.attribute("pixel_format") == "Grayscale" else 3)]


# Strings


def normalised_strings(node: Node) -> Sequence[Result]:
    """The strings that are kept, an unknown number of them when there are stop words; an empty one when none is."""
    x = node.expect_rank(0, 1, 2)
    if x is None or x[-1] is None or node.attribute("stopwords"):
        return [None if x is None else (*x[:-1], None)]
    return [(*x[:-1], maximum(1, x[-1]))]


def split_strings(node: Node) -> Sequence[Result]:
    """The input with a new last axis for the parts, whose number depends on the data; and the number of parts."""
    x = node.shape(0)
    return [None if x is None else (*x, None), x]


def ngrams(node: Node) -> Sequence[Result]:
    """[..., C]: [..., number of n-grams]."""
    x = node.expect_rank(0, 1, 2)
    count = max(node.attribute("ngram_indexes"), default=-1) + 1
    return [None if x is None else (*x[:-1], count)]


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow"), window),
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "DFT": fourier,
    "ImageDecoder": image,
    "MelWeightMatrix": mel_weights,
    "Multinomial": multinomial,
    "RandomNormal": stated_shape,
    "RandomUniform": stated_shape,
    "Range": counted_range,
    "STFT": short_time_fourier,
    "StringNormalizer": normalised_strings,
    "StringSplit": split_strings,
    "TfIdfVectorizer": ngrams,
}
