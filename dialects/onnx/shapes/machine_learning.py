"""Rules of the operators of ai.onnx.ml, with those that older versions of it have for trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ge.dialects.onnx.shapes.elementwise import like_input
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, MapOf, SequenceOf, Shape, Tensor, known_product


def _batch(node: Node) -> Dim:
    """The number of examples of an input [N, C]; a vector is one example."""
    x = node.expect_rank(0, 1, 2)
    return None if x is None else x[0] if len(x) == 2 else 1


def array_feature_extractor(node: Node) -> Sequence[Result]:
    """The entries of the last axis that the indices name; a vector becomes a row."""
    x, count = node.expect_least_rank(0, 1), known_product(node.shape(1))
    if x is None:
        return [None]
    return [(1, count) if len(x) == 1 else (*x[:-1], count)]


def cast_map(node: Node) -> Sequence[Result]:
    """[1, number of entries], which the attribute tells for the sparse form."""
    element = {"TO_FLOAT": "f32", "TO_STRING": "string", "TO_INT64": "i64"}.get(node.attribute("cast_to"))
    size: Dim = node.attribute("max_map") if node.attribute("map_form") == "SPARSE" else None
    return [Tensor(element, (1, size))]


def category_mapper(node: Node) -> Sequence[Result]:
    """The shape of the input; strings become numbers and numbers strings."""
    return [Tensor({"string": "i64", "i64": "string"}.get(node.element() or ""), node.shape(0))]


def dict_vectorizer(node: Node) -> Sequence[Result]:
    """[1, size of the vocabulary], of the type of the values."""
    value = node.value(0)
    inner = value.value if isinstance(value, MapOf) else None
    words = node.attribute("string_vocabulary") or node.attribute("int64_vocabulary") or ()
    return [Tensor(inner.element if isinstance(inner, Tensor) else None, (1, len(words)))]


def feature_vectorizer(node: Node) -> Sequence[Result]:
    """The columns of all inputs side by side."""
    widths = node.attribute("inputdimensions")
    if widths:
        width: Dim = sum(widths)
    else:
        columns = [node.dim(position, -1) for position in range(len(node.inputs))]
        width = None if None in columns else sum(column for column in columns if column is not None)
    return [(_batch(node), width)]


def label_encoder(node: Node) -> Sequence[Result]:
    """The shape of the input, in the type of the values that are given."""
    element: str | None = None
    for name, type in (("values_strings", "string"), ("values_int64s", "i64"), ("values_floats", "f32")):
        if node.attribute(name) is not None:
            element = type
    table = node.attribute("values_tensor")
    return [Tensor(table.element if isinstance(table, Tensor) else element, node.shape(0))]


def _labels(node: Node) -> tuple[str, int]:
    """The type and the number of class labels; none are counted as zero."""
    strings = node.attribute("classlabels_strings")
    if strings:
        return "string", len(strings)
    return "i64", len(node.attribute("classlabels_ints") or ())


def linear_classifier(node: Node) -> Sequence[Result]:
    """A label for each example, and a score for each class, two for one class."""
    element, count = _labels(node)
    count = count or len(node.attribute("intercepts") or ())
    return [Tensor(element, (_batch(node),)), (_batch(node), max(2, count) if count else None)]


def vector_classifier(node: Node) -> Sequence[Result]:
    """A label for each example, and scores for each class (or each pair of classes, without probabilities)."""
    element, count = _labels(node)
    scores: Dim = count if node.attribute("prob_a") and count else None
    return [Tensor(element, (_batch(node),)), (_batch(node), scores)]


def linear_regressor(node: Node) -> Sequence[Result]:
    """[N, number of targets]."""
    return [(_batch(node), node.attribute("targets"))]


def vector_regressor(node: Node) -> Sequence[Result]:
    """[N, 1]."""
    return [(_batch(node), 1)]


def one_hot_encoder(node: Node) -> Sequence[Result]:
    """The input with a new last axis, as long as there are categories."""
    x = node.shape(0)
    categories: Any = node.attribute("cats_strings") or node.attribute("cats_int64s") or ()
    return [None if x is None else (*x, len(categories))]


def tree_ensemble(node: Node) -> Sequence[Result]:
    """[N, number of targets]."""
    shape: Shape = (_batch(node), node.attribute("n_targets"))
    return [shape]


def tree_classifier(node: Node) -> Sequence[Result]:
    """A label for each example, and a score for each class."""
    strings, numbers = node.attribute("classlabels_strings"), node.attribute("classlabels_int64s") or ()
    batch = _batch(node)
    return [Tensor("string" if strings else "i64", (batch,)), Tensor("f32", (batch, len(strings or numbers)))]


def tree_regressor(node: Node) -> Sequence[Result]:
    """[N, number of targets]."""
    return [Tensor("f32", (_batch(node), node.attribute("n_targets")))]


def zip_map(node: Node) -> Sequence[Result]:
    """A sequence of maps, one for each example."""
    key = "string" if node.attribute("classlabels_strings") else "i64"
    return [SequenceOf(MapOf(key, Tensor("f32", ())))]


RULES: Mapping[str, Rule] = {
    f"ai.onnx.ml.{name}": rule
    for name, rule in {
        "ArrayFeatureExtractor": array_feature_extractor,
        "Binarizer": like_input,
        "CastMap": cast_map,
        "CategoryMapper": category_mapper,
        "DictVectorizer": dict_vectorizer,
        "FeatureVectorizer": feature_vectorizer,
        "Imputer": like_input,
        "LabelEncoder": label_encoder,
        "LinearClassifier": linear_classifier,
        "LinearRegressor": linear_regressor,
        "Normalizer": like_input,
        "OneHotEncoder": one_hot_encoder,
        "SVMClassifier": vector_classifier,
        "SVMRegressor": vector_regressor,
        "Scaler": like_input,
        "TreeEnsemble": tree_ensemble,
        "TreeEnsembleClassifier": tree_classifier,
        "TreeEnsembleRegressor": tree_regressor,
        "ZipMap": zip_map,
    }.items()
}
