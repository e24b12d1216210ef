"""The pass `fuse-matmul-add`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class FuseMatmulAddPass(RuleFilePass):
    """Make one Gemm of a product of matrices and what is next to it.

    1. MatMul + Add, and Gemm without a bias + Add; a constant added to a Gemm with a constant bias.
    2. Transposes of operands and of the result, as attributes.
    3. A number that multiplies the product, as `alpha`; `alpha` and `beta` into constants.
    4. A Gemm of the last axis of a value of more dimensions, between two Reshapes: MatMul and Add, without them.

    Left alone: products of more or fewer dimensions than two, for which Gemm is not defined; a bias that widens the
    product; element types that runtimes have no Gemm of; a factor of float64; a product that something else uses.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "fuse-matmul-add"
    RULES = (
        "matmul-add",
        "gemm-add",
        "gemm-transposed-left",
        "gemm-transposed-right",
        "gemm-transposed-result",
        "gemm-add-constant",
        "gemm-alpha",
        "gemm-beta",
        "gemm-factor",
        "matmul-factor",
        "matmul-transposed-left",
        "matmul-transposed-right",
        "gemm-of-flattened",
        "gemm-of-flattened-alone",
    )
