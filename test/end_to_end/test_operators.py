"""Cases of the ONNX standard, compiled to an OM file, read back and run: kernels, host operators, values of any type.

Every operator has a case of its own in test/dialects/onnx; here are some of each kind that the OM file must carry.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx.backend.test.case.node import collect_testcases

from ge.targets.ascend.om.reader import read_module
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime import Runtime
from ge.tools.agreement import compare
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions

CASES = """
    add_bcast attention_3d_expanded averagepool_2d_ceil basic_conv_with_padding batchnorm_epsilon
    bitwise_and_i32_2d cast_BFLOAT16_to_FLOAT cast_FLOAT_to_FLOAT8E5M2 concat_3d_axis_1
    conv_with_strides_and_asymmetric_padding cumsum_1d dynamicquantizelinear einsum_batch_matmul gather_1
    gemm_all_attributes globalaveragepool gru_defaults hardswish identity_opt identity_sequence if_seq
    instancenorm_epsilon ai_onnx_ml_label_encoder_string_int layer_normalization_2d_axis0 logsoftmax_axis_2
    loop11 lstm_defaults matmul_3d matmulinteger maxpool_2d_pads nonmaxsuppression_two_classes nonzero_example
    optional_has_element_empty_optional_input qlinearconv reduce_mean_default_axes_keepdims_example
    resize_upsample_sizes_cubic scan9_sum sequence_insert_at_back sequence_map_add_2_sequences softmax_axis_1
    split_variable_parts_1d_opset13 string_concat strnormalizer_nostopwords_nochangecase
    tfidfvectorizer_tf_only_bigrams_skip0 top_k transpose_default unique_sorted_with_axis where_example
"""


@cache
def cases() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name.removeprefix("test_"): case for case in cast("list[Any]", collect_testcases(None))}


def value(given: Any) -> Any:
    """An input or output of a case as the run time takes it."""
    if isinstance(given, onnx.TensorProto):
        return onnx.numpy_helper.to_array(given)
    return given if given is None or isinstance(given, list) else np.asarray(given)


@pytest.mark.parametrize("name", CASES.split())
def test_operators_run_from_an_om_file(name: str, tmp_path: Path) -> None:
    case = cases()[name]
    onnx.save(case.model, tmp_path / "model.onnx")
    file = model_bytes(compile_model(CompileOptions(tmp_path / "model.onnx")).module)
    assert model_bytes(read_module(file)) == file
    inputs, expected = case.data_sets[0]
    outputs = Runtime().run(file, [value(each) for each in inputs])
    agreements = compare(outputs, dict(zip(outputs, map(value, expected), strict=True)), half=True)
    assert all(each.passed for each in agreements), agreements
