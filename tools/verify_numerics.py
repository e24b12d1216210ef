"""Whether passes keep the numbers: the module runs before and after every pass, on the same inputs.

The inputs are of the kinds of :mod:`ge.maths.hostile`, as far as the module takes them and they tell something
(:mod:`ge.tools.input_draws`); without any there is no verdict, which is an error. Outputs must agree as everywhere in
this project: float32 to 1e-5 of the largest value plus 1e-5 of each, float16 to 1e-3, what the AI Core computes in
float16 to 0.4 % of the largest value, integers exactly. A difference that is no more than a few roundings of the
largest value inside the model passes: where nearly equal numbers are subtracted, that is all that is known.

On models of ONNX both runs are by onnxruntime where it is installed and takes both modules, otherwise by definition.
After a pass that left the module as it was, or as one that computes the same by the same operations
(:mod:`ge.tools.formulas`), there is nothing to run; after others, what is ahead of the changes is not run again
(:mod:`ge.tools.partial_runs`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ge.ir.errors import GeError
from ge.ir.locations import name_loc, node_names, where
from ge.maths.hostile import KINDS, largest_finite
from ge.tools.agreement import FLOAT32_TOLERANCE, MAX_RELATIVE
from ge.tools.arrays import InputInfo
from ge.tools.execute import Executable, OnnxExecutable, executable
from ge.tools.formulas import Formulas, output_numbers
from ge.tools.input_draws import Draw, Draws, draw_for
from ge.tools.onnxruntime_executable import OnnxRuntimeExecutable, fastest, values_inside
from ge.tools.partial_runs import PartialRuns
from ge.tools.stepwise import NamedValue, named_values

Position: TypeAlias = tuple[int, ...]

FLOAT16_TOLERANCE = 1e-3
FLOAT16_MAX = 65504.0
FLOAT16_LEAST = 2.0**-24
"""The smallest float16, and the distance between those that are not normal."""

ROUNDINGS = 4.0
"""How many roundings of the largest value inside the model may show."""


@dataclass
class NumericsCheck:
    """Checks a module after every pass; to be called with the pass, or with None before the first one."""

    seed: int = 0
    passes: int = 0
    """How many passes were seen."""
    judged: int = 0
    """How many of them changed the operations that the outputs are computed by."""
    draws: Draws = field(default_factory=lambda: Draws([], {}, []))
    _before: ModuleOp | None = None
    _half: bool = False
    _fast: bool = False
    """Whether onnxruntime ran the module before."""
    _formulas: Formulas = field(default_factory=Formulas)
    _parts: PartialRuns = field(default_factory=PartialRuns)

    def __call__(self, each: ModulePass | None, module: ModuleOp) -> None:
        """Run a module and compare. Raises GE3014, GE3018, or what running it raises."""
        if each is None:
            self._start(module)
        elif self._before is not None:
            self.passes += 1
            if self._before.is_structurally_equivalent(module):
                return
            if _states_shapes(self._before, module):
                self._start(self._before, executable(module).inputs)
            self._compare(each.name, module, self._before)
        self._before = module.clone()

    def report(self) -> str:
        """What was judged, and on which draws of inputs, in one line."""
        draws = self.draws
        text = f"numerics: {self.judged} of {self.passes} passes changed the operations, none the numbers, "
        text += f"on {len(draws.kept)} of {len(KINDS)} draws of inputs ({', '.join(draw.kind for draw in draws.kept)})"
        for what, kinds in (("refused by the module", draws.refused), ("without outputs to compare", draws.silent)):
            text += f"; {what}: {', '.join(kinds)}" if kinds else ""
        return text + ("; every draw gives the same outputs, which tells little" if _all_alike(draws.kept) else "")

    def _start(self, module: ModuleOp, inputs: Sequence[InputInfo] = ()) -> None:
        """Draw inputs, and run the module on them. Raises GE3018 when no draw can be judged.

        ``inputs``: what they are from the next pass on, where that states shapes that were open.
        """
        program = fastest(module)
        self.draws = draw_for(module, program, inputs or program.inputs, self.seed)
        if not self.draws.kept and isinstance(program, OnnxRuntimeExecutable):
            program = executable(module)
            self.draws = draw_for(module, program, inputs or program.inputs, self.seed)
        self._fast = isinstance(program, OnnxRuntimeExecutable)
        self._half = program.half
        self._parts = PartialRuns()
        self._require_draws()

    def _require_draws(self) -> None:
        """Raise GE3018 when no draw can be judged."""
        if self.draws.kept:
            return
        refusals = list(self.draws.refused.values())
        why = f"it refuses what is drawn: {refusals[-1].what}" if refusals else "its outputs have no finite number"
        what = f"none of {len(KINDS)} draws of inputs can be judged: {why}"
        raise GeError("GE3018", what, refusals[-1].where if refusals else None)

    def _compare(self, name: str, module: ModuleOp, before: ModuleOp) -> None:
        """Compare a module with the one before, unless all outputs are the same formulas."""
        old, new = self._formulas.of(before), self._formulas.of(module)
        if old is not None and new is not None and output_numbers(before, old) == output_numbers(module, new):
            return
        self.judged += 1
        results = None if old is None or new is None else self._run_part(module, new, frozenset(old.values()))
        half = self._half
        if results is None:
            program = self._program(name, module, before)
            half |= program.half
            results = [self._run(name, program, draw) for draw in self.draws.kept]
            self._half = program.half
        for draw, outputs in zip(self.draws.kept, results, strict=True):
            for (output, wanted), found in zip(draw.outputs.items(), outputs.values(), strict=True):
                position = difference(found, wanted, half=half, strict=draw.kind not in ("large", "mixed"))
                if position is not None:
                    self._report(name, output, position, found, draw, module, before, half)
            draw.outputs = outputs

    def _run_part(
        self, module: ModuleOp, numbers: Mapping[SSAValue, int], before: frozenset[int]
    ) -> list[dict[str, Any]] | None:
        """The outputs for all draws by onnxruntime, from what is known on; None when that is not possible."""
        if not self._fast:
            return None
        try:
            return self._parts.run(module, numbers, before, self.draws.kept)
        except GeError:  # as a whole it may run, or else that is the error
            return None

    def _run(self, name: str, program: Executable, draw: Draw) -> dict[str, Any]:
        """The outputs for a draw. Raises GE3014 when the program does not run on it."""
        try:
            return draw.run(program)
        except GeError as error:
            what = f"pass '{name}': the module does not run any more: {error.what}"
            raise GeError("GE3014", what, error.where) from error

    def _program(self, name: str, module: ModuleOp, before: ModuleOp) -> Executable:
        """What runs the module now. If it is not what ran the one before, that one runs again, by definition."""
        try:
            program = executable(module)
        except GeError as error:
            what = f"pass '{name}': the module cannot run any more: {error.what}"
            raise GeError("GE3014", what, error.where) from error
        if not self._fast:
            return program
        if isinstance(program, OnnxExecutable) and isinstance(fast := fastest(module), OnnxRuntimeExecutable):
            return fast
        self._fast = False
        self._judge_again(executable(before))
        return program

    def _judge_again(self, program: Executable) -> None:
        """Run by definition what ran by onnxruntime before. Raises GE3018 when that refuses all that this took."""
        for draw in list(self.draws.kept):
            try:
                draw.outputs = draw.run(program)
            except GeError as error:
                self.draws.kept.remove(draw)
                self.draws.refused[draw.kind] = error
        self._require_draws()

    def _report(
        self,
        name: str,
        output: str,
        position: Position,
        found: Any,
        draw: Draw,
        module: ModuleOp,
        before: ModuleOp,
        half: bool,
    ) -> None:
        """Raise GE3014 with the first value that differs, unless values inside explain the difference.

        They do when it is no more than their rounding, and when float16 could not hold them.
        """
        old, new = self._inside(_all_named(before), draw), self._inside(module, draw)
        wanted, size = draw.outputs[output], largest_finite(each.value for each in old.values())
        if _is_rounding(found, wanted, size, half) or (half and size > FLOAT16_MAX):
            return
        what = f"pass '{name}' changes output '{output}': {describe(found, wanted, position)} ({draw.kind} inputs)"
        first = first_difference(old, new, half)
        if first is None:
            raise GeError("GE3014", what)
        at, place = first
        detail = describe(at.value, old[place].value, difference(at.value, old[place].value, half=half) or ())
        what += f"; the first value that differs is that of node '{at.name}' ({at.op.name}): {detail}"
        raise GeError("GE3014", what, where(at.op))

    def _inside(self, module: ModuleOp, draw: Draw) -> Mapping[str, NamedValue]:
        """The values inside a module by name; none when what ran it does not give them."""
        if self._fast:
            try:
                return values_inside(module, draw.inputs)
            except GeError:
                pass  # a value of a type that is no output
        try:
            return named_values(module, draw.inputs)
        except GeError:  # by definition it does not run, which onnxruntime may see otherwise
            return {}


def _all_alike(draws: Sequence[Draw]) -> bool:
    """Whether inputs of all kinds give the same outputs: then hardly anything that a pass does could show."""
    if len(draws) < 2 or not draws[0].inputs:
        return False
    first, *others = ([*draw.outputs.values()] for draw in draws)
    return not any(isinstance(value, list) for value in first) and all(
        np.array_equal(a, b) for other in others for a, b in zip(first, other, strict=True)
    )


def _all_named(module: ModuleOp) -> ModuleOp:
    """A copy of a module in which every operation has a name, so that no value inside is overlooked."""
    module = module.clone()
    for number, op in enumerate(module.walk()):
        if op.results and not node_names(op):
            op.location = name_loc(f"unnamed {number}")
    return module


def _states_shapes(before: ModuleOp, after: ModuleOp) -> bool:
    """Whether inputs have the same element types as before, and other shapes."""
    types = list(zip(_input_types(before), _input_types(after), strict=False))
    elements = [(_element_type(a), _element_type(b)) for a, b in types]
    return any(a != b for a, b in types) and all(a is not None and a == b for a, b in elements)


def _element_type(type: Attribute) -> Attribute | None:
    return cast("TensorType[Attribute]", type).element_type if isinstance(type, TensorType) else None


def _input_types(module: ModuleOp) -> Sequence[Attribute]:
    main = next((op for op in module.ops if isinstance(op, FuncOp)), None)
    return () if main is None else main.body.block.arg_types


# Comparing


def difference(found: Any, wanted: Any, *, half: bool, strict: bool = True) -> Position | None:
    """Where a value first differs from what it should be; None when it agrees.

    ``half``: it was computed in float16. Without ``strict``, a value may be finite where it should not.
    """
    if isinstance(wanted, list):
        return _difference_of_lists(found, cast("list[Any]", wanted), half, strict)
    a, b = np.asarray(found), np.asarray(wanted)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return ()
    if a.dtype.kind not in "fV":
        return first_position(a != b)
    x, y = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        allowed = _allowed(y, a.dtype, half)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        right = same | (np.abs(x - y) <= allowed) | (~np.isfinite(y) & np.isfinite(x) & (not strict))
        if half:  # saturation
            right |= np.clip(x, -FLOAT16_MAX, FLOAT16_MAX) == np.clip(y, -FLOAT16_MAX, FLOAT16_MAX)
    return first_position(~right)


def _difference_of_lists(found: Any, wanted: list[Any], half: bool, strict: bool) -> Position | None:
    if not isinstance(found, list) or len(cast("list[Any]", found)) != len(wanted):
        return ()
    for number, (a, b) in enumerate(zip(cast("list[Any]", found), wanted, strict=True)):
        if (position := difference(a, b, half=half, strict=strict)) is not None:
            return (number, *position)
    return None


def _allowed(wanted: NDArray[np.float64], dtype: np.dtype[Any], half: bool) -> NDArray[np.float64]:
    """How much each element may differ."""
    size = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
    if half:
        return np.full(wanted.shape, MAX_RELATIVE * size)
    tolerance = FLOAT16_TOLERANCE if dtype.itemsize == 2 else FLOAT32_TOLERANCE
    return tolerance * (size + np.abs(wanted))


def _is_rounding(found: Any, wanted: Any, size: float, half: bool) -> bool:
    """Whether a difference is no more than a few roundings of values of a size, or than a few least float16 numbers."""
    a, b = np.asarray(found), np.asarray(wanted)
    if isinstance(wanted, list) or a.shape != b.shape or a.dtype.kind != "f" or b.dtype.kind != "f":
        return False
    unit = 2.0**-11 if half or a.dtype.itemsize == 2 else 2.0**-24
    step = max(unit * size, FLOAT16_LEAST if half else 0.0)
    with np.errstate(all="ignore"):
        distance = np.abs(a.astype(np.float64) - b.astype(np.float64))
        return bool(((distance <= ROUNDINGS * step) | (a == b)).all())


def first_position(wrong: NDArray[np.bool_] | bool) -> Position | None:
    """The first position where something is true."""
    flags = np.asarray(wrong)
    if not flags.any():
        return None
    return tuple(int(index) for index in np.unravel_index(int(flags.argmax()), flags.shape))


def first_difference(
    before: Mapping[str, NamedValue], after: Mapping[str, NamedValue], half: bool
) -> tuple[NamedValue, str] | None:
    """The first value in the order of the program that differs from that of the same node before, and its name.

    Values that are not in both, or have another shape or element type now, cannot be compared.
    """
    for place, new in after.items():
        old = before.get(place)
        a, b = np.asarray(new.value), np.asarray(None if old is None else old.value)
        if old is None or a.shape != b.shape or a.dtype != b.dtype:
            continue
        if difference(new.value, old.value, half=half) is not None:
            return new, place
    return None


def describe(found: Any, wanted: Any, position: Position) -> str:
    """Both values at a position, or what else differs."""
    a, b = np.asarray(found), np.asarray(wanted)
    if isinstance(wanted, list) or a.shape != b.shape:
        return f"it was {_kind(wanted)}, now it is {_kind(found)}"
    at = f"at {list(position)} " if position else ""
    return f"{at}it was {b[position]!s}, now it is {a[position]!s}"


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of {len(cast('Sequence[Any]', value))}"
    array = np.asarray(value)
    return "nothing" if value is None else f"{array.dtype.name}{list(array.shape)}"
