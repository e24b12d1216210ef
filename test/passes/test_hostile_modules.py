"""Modules that no importer writes: what cannot be is refused, and no pass breaks on what is only odd."""

from __future__ import annotations

import pytest

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.registry import PASSES, context, registry
from ge.ir.verifier import verify_module
from ge.targets.onnx.exporter import export_model
from ge.tools.execute import executable
from ge.tools.pipeline import PassRunner, parse_pipeline

T = "tensor<2xf32>"


def main(body: str, returned: str = "%x", type: str = T, arguments: str = f"%x: {T}") -> str:
    """A module with one function."""
    return f"func.func @main({arguments}) -> {type} {{\n{body}\nfunc.return {returned} : {type}\n}}\n"


def function(body: str, name: str = "l::f") -> str:
    """A function of a model, which `CALL` calls."""
    return f'func.func private @"{name}"(%x: {T}) -> {T} {{\n{body}\n}}\n'


CALL = main(f'%y = onnx.Call @"l::f"(%x) : ({T}) -> {T}', "%y")
NO_VALUE = f'"test.op"() {{t = #onnx.tensor<["a"] : {T}>}} : () -> ()'
CONSTANT = '%y = "onnx.Constant"() {{value = {}}} : () -> {}'
CUSTOM = f'%y = "onnx.Custom"(%x) <{{{{domain_name = "d", type_name = "t", {{}}}}}}> ({{}}) : ({T}) -> {T}'


def constant(value: str, type: str) -> str:
    return main(CONSTANT.format(value, type), "%y", type)


def custom(properties: str, region: str) -> str:
    return main(CUSTOM.format(properties, region), "%y")


def onnx(op: str, results: int) -> str:
    names = "".join(f"%y{number}, " for number in range(results))[:-2]
    types = ", ".join([T] * results)
    return main(f'{names}{" = " if names else ""}"onnx.{op}"(%x) : ({T}) -> ({types})')


REFUSED = {
    "a list with too few strings": (
        constant('["a", "b"]', "tensor<3x!onnx.string>"),
        "GE3002",
        "2 strings do not fill",
    ),
    "strings of unknown number": (constant('["a"]', "tensor<?x!onnx.string>"), "GE3002", "1 strings do not fill"),
    "a list that is not of strings": (constant('["a", 1]', "tensor<2x!onnx.string>"), "GE3002", "has 1 : i64 in it"),
    "strings as floats": (constant('["a", "b"]', T), "GE3002", "a constant of strings, not of f32"),
    "floats as strings": (
        constant(f"dense<1.0> : {T}", "tensor<2x!onnx.string>"),
        "GE3002",
        "holds elements of tensor<2xf32>",
    ),
    "a constant of another shape": (constant(f"dense<1.0> : {T}", "tensor<3xf32>"), "GE3002", "holds elements of"),
    "weights that are too short": (constant('#ge.weights<"0x00">', T), "GE3002", "1 bytes of weights do not fill"),
    "a constant that is none": (constant("unit", T), "GE3002", "unit holds no elements"),
    "a constant of no tensor": (constant(f"dense<1.0> : {T}", "i32"), "GE3002", "has a ranked tensor type, not i32"),
    "an attribute that does not fit": (NO_VALUE, "GE3001", "a constant of strings, not of f32"),
    "a splat of any size": (constant("dense<0> : tensor<99999999xi8>", "i8"), "GE3001", "at most 1048576 elements"),
    "an array of nothing": ('"test.op"() {a = array<i0: 1>} : () -> ()', "GE3001", "integers without bits"),
    "a shape of any rank": (f'"test.op"() : () -> tensor<{"1x" * 1000}f32>', "GE3001", "at most 256 dimensions"),
    "fewer results than declared": (onnx("Relu", 0), "GE3002", "output 'Y' is missing"),
    "more results than declared": (onnx("Relu", 2), "GE3002", "2 outputs, but the operator has at most 1"),
    "fewer results than a list needs": (onnx("Split", 0), "GE3002", "needs at least 1 values"),
    "one of two results": (
        main(
            f'%k = onnx.Constant dense<1> : tensor<1xi64>\n%y = "onnx.TopK"(%x, %k) : ({T}, tensor<1xi64>) -> '
            "tensor<1xf32>"
        ),
        "GE3002",
        "output 'Indices' is missing",
    ),
    "a graph of two blocks": (
        custom('regions_named = ["g"]', f"{{\ncf.br ^a\n^a:\nonnx.Yield %x : {T}\n}}"),
        "GE3002",
        "'onnx.Yield' is in a region of 2 blocks, not one",
    ),
    "a graph without an end": (
        custom('regions_named = ["g"]', '{\n"test.termop"() : () -> ()\n}'),
        "GE3002",
        "region 'g' must end with onnx.Yield",
    ),
    "an empty graph": (custom('regions_named = ["g"]', "{}"), "GE3002", "region 'g' must have one block"),
    "a negative number of graphs": (
        custom('regions_named = ["g", ["h", -1]]', "{}").replace(" ({})", ""),
        "GE3002",
        "a list of -1 regions",
    ),
    "absent inputs that cannot be": (
        main(f'%y = "onnx.Relu"(%x) <{{absent = array<i64: 7>}}> : ({T}) -> {T}'),
        "GE3002",
        "'absent' lists positions [7] of 2 inputs",
    ),
    "a call of two blocks": (
        CALL + function(f"cf.br ^a\n^a:\nfunc.return %x : {T}"),
        "GE3004",
        "has 2 blocks, not one",
    ),
    "operators in two blocks": (
        main(f"%y = onnx.Relu(%x) : ({T}) -> {T}\ncf.br ^a\n^a:", "%y"),
        "GE3002",
        "'onnx.Relu' is in a region of 2 blocks, not one",
    ),
    "a call of no body": (CALL + f'func.func private @"l::f"({T}) -> {T}', "GE3004", "function @l::f has no body"),
    "a call of no return": (
        CALL + function('"test.termop"() : () -> ()'),
        "GE3004",
        "ends with 'test.termop', not with 'func.return'",
    ),
}


@pytest.mark.parametrize(("text", "code", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused(text: str, code: str, message: str) -> None:
    with pytest.raises(GeError) as error:
        verify_module(parse_module(text))
    assert (error.value.code, message) == (code, message if message in error.value.what else error.value.what)


CALL_TWICE = '%y = onnx.Call @"l::f{0}"(%x) : ({1}) -> {1}\n%z = onnx.Call @"l::f{0}"(%y) : ({1}) -> {1}'
DOUBLING = "".join(
    function(CALL_TWICE.format(level + 1, T) + f"\nfunc.return %z : {T}", f"l::f{level}") for level in range(40)
)
HOST = (
    '{0}"graph.host"(%x) ({{\n^a(%a: {1}):\n"onnx.Custom"(%a) <{{domain_name = "d", type_name = "t"}}> : ({1}) -> ()\n'
    '"graph.yield"({2}) : ({3}) -> ()\n}}) : ({1}) -> ({3})'
)

ODD = {
    "two blocks of nothing": main("cf.br ^a\n^a:"),
    "a declaration": f"func.func @main({T}) -> {T}",
    "only a private function": function(f"func.return %x : {T}"),
    "no function": '"test.op"() : () -> ()',
    "operators outside functions": f"%c = onnx.Constant dense<1.0> : {T}\n%y = onnx.Relu(%c) : ({T}) -> {T}",
    "no arguments": "func.func @main() {\nfunc.return\n}",
    "another end": f'func.func @main(%x: {T}) -> {T} {{\n"test.termop"(%x) : ({T}) -> ()\n}}',
    "the end of a graph": f"func.func @main(%x: {T}) -> {T} {{\nonnx.Yield %x : {T}\n}}",
    "other control flow": main(
        f"%y = scf.if %c -> ({T}) {{\n%z = onnx.Relu(%x) : ({T}) -> {T}\nscf.yield %z : {T}\n}} else {{\n"
        f"scf.yield %x : {T}\n}}",
        "%y",
        arguments=f"%x: {T}, %c: i1",
    ),
    "another call": main(f"%y = func.call @main(%x) : ({T}) -> {T}", "%y"),
    "no tensors": main("%y = arith.addf %x, %x : f32", "%y", "f32", "%x: f32"),
    "a module in a module": f"builtin.module {{\n{main('')}}}",
    "a call without results": main(f'"onnx.Call"(%x) <{{domain_name = "l", type_name = "f"}}> : ({T}) -> ()')
    + function(f"func.return %x : {T}"),
    "an operator without results": main(f'"onnx.Custom"(%x) <{{domain_name = "d", type_name = "t"}}> : ({T}) -> ()'),
    "work of the host without results": main(
        HOST.format("", T, "", "")
        + "\n"
        + HOST.format("%y = ", T, "%a", T)
        + "\n"
        + HOST.format("%z = ", T, "%a", T).replace("(%x)", "(%y)"),
        "%z",
    ),
    "a function that calls itself": main(f'%y = onnx.Call @"l::f"(%x) : ({T}) -> {T}', "%y")
    + function(f'%y = onnx.Call @"l::f"(%x) : ({T}) -> {T}\nfunc.return %y : {T}'),
    "functions that double": CALL.replace("l::f", "l::f0") + DOUBLING + function(f"func.return %x : {T}", "l::f40"),
    "two inputs of one name": main("", arguments=f"%x: {T}, %z: {T}").replace(
        " {", ' attributes {onnx.input_names = ["a", "a"]} {', 1
    ),
    "an opset that cannot be": f"builtin.module attributes {{onnx.opsets = {{ai.onnx = {2**63 - 1} : i64, "
    f'"d" = -1 : i64}}}} {{\n{main("")}}}',
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_no_pass_breaks_on_what_is_odd(text: str) -> None:
    module = parse_module(text)
    verify_module(module)
    faults: dict[str, str] = {}
    for name in PASSES:
        runner = PassRunner(verify_module, dump=str)
        fault = _fault(
            lambda runner=runner, name=name: runner.run(context(), module.clone(), parse_pipeline(name, registry()))
        )
        if fault is not None:
            faults[name] = fault
    for name, step in {"export": export_model, "run": executable}.items():
        if (fault := _fault(lambda step=step: step(module.clone()))) is not None:
            faults[name] = fault
    assert faults == {}


def _fault(step: object) -> str | None:
    """What is said when a step ends in something else than a result or an error of the module."""
    assert callable(step)
    try:
        step()
    except GeError as error:
        return error.what if error.code == "GE9001" or "internal error" in error.what else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def test_functions_that_double_are_refused_before_they_are_inlined() -> None:
    module = parse_module(ODD["functions that double"])
    for name in ("inline-functions", "infer-shapes", "dump-shapes", "convert-onnx-to-graph"):
        with pytest.raises(GeError, match=r"GE1020.*come to [0-9]{13} operations"):
            PassRunner(verify_module, dump=str).run(context(), module.clone(), parse_pipeline(name, registry()))
