"""An encoded kernel, translated once to a Python function that runs it on one core.

The scalar code of a kernel becomes plain Python, each instruction one call of its `execute`. Beside that the function
keeps time, where asked: for each pipe when it is free (`f_v`), when its last result is there (`d_v`) and how long it
was busy (`b_v`); the time `t` of the scalar unit, which issues everything; and for each event when it was raised. So
time costs a few additions for each instruction, and whatever is not asked for is not in the function.

A kernel of a few instructions turns into (cut short):

```
def run(memory, core, r0, r1, w0, w1, checker, trace):
    for r5 in range(core, 28, 8):
        r6 = (r5 * 512)
        copy_gm_to_ub(memory, 0, r0 + r6, 1, 16, 0, 0)
        t += 2
        k = 23 if w0 else 53
        f_mte2 = (f_mte2 if f_mte2 > t else t) + k
        d_mte2 = f_mte2 + 190
```
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.cube.encoding import decode
from ge.dialects.cube.fields import Address, Immediate
from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.instructions.sync import FlagInstruction, PipeBarrier, SetFlag
from ge.dialects.cube.kernel import AllocOp, BlockIdxOp, CubeKernelOp, root_alloc
from ge.dialects.cube.scalars import COMPARISONS, SCALAR_BY_CLASS, SCALAR_FUNCTIONS, constant_value
from ge.dialects.cube.spaces import BLOCK, Pipe, Space
from ge.targets.ascend.soc import Soc

LOOP_CYCLES = 2
"""Scalar cycles of one turn of a loop: step and branch."""

SOURCE_NAME = "<kernel>"
"""What tracebacks call the source of a kernel."""

_QUEUES = tuple(pipe.value for pipe in Pipe if pipe is not Pipe.S)


@dataclass(frozen=True)
class Variant:
    """What the function does; without ``computes`` it only counts, and needs no memory."""

    computes: bool = True
    cycles: bool = True
    checks: bool = False
    trace: bool = False


@dataclass(frozen=True)
class CoreRun:
    """What the function reports of one core. Times are in cycles."""

    cycles: int
    busy: dict[str, int]
    instructions: int
    gm_read: int
    gm_written: int


CoreFunction: TypeAlias = Callable[..., tuple[Any, ...]]
"""run(memory, core, addresses of the arguments..., whether each is in the L2 cache..., checker, trace)"""


class Program:
    """A planned kernel for one SoC, with its instructions numbered and its functions compiled when first asked for."""

    def __init__(self, kernel: CubeKernelOp, soc: Soc) -> None:
        self.kernel = kernel
        self.soc = soc
        self.arguments = len(self.kernel.body.block.args)
        self.outputs = self.kernel.output_count
        self.blocks = self.kernel.block_count
        self.instructions = [op for op in self.kernel.walk() if isinstance(op, Instruction)]
        self._functions: dict[Variant, tuple[CoreFunction, list[int | None]]] = {}
        self._texts: list[str] | None = None

    def function(self, variant: Variant) -> CoreFunction:
        """The Python function of one variant."""
        return self._compiled(variant)[0]

    def _compiled(self, variant: Variant) -> tuple[CoreFunction, list[int | None]]:
        if variant not in self._functions:
            self._functions[variant] = _Translator(self, variant).compile()
        return self._functions[variant]

    def instruction_at(self, variant: Variant, line: int) -> int | None:
        """The number of the instruction that a line of a function executes."""
        lines = self._compiled(variant)[1]
        return lines[line - 1] if 0 < line <= len(lines) else None

    def text(self, number: int) -> str:
        """The text of one instruction."""
        if self._texts is None:
            # Every operation prints as one line; the lines of closing braces stand for none.
            lines = [line.strip() for line in str(self.kernel).splitlines()]
            printed = [op for op in self.kernel.walk() if not isinstance(op, scf.YieldOp)]
            texts = dict(zip(printed, (line for line in lines if not line.startswith("}")), strict=True))
            self._texts = [texts[op] for op in self.instructions]
        return self._texts[number]

    def where(self, name: str, core: int, number: int | None) -> str:
        """A place in the kernel called `name`, for error messages."""
        place = f"kernel @{name}, core {core}"
        return place if number is None else f"{place}, instruction {number}: {self.text(number)}"


_PROGRAMS: dict[tuple[bytes, int], Program] = {}
_PROGRAM_LIMIT = 1024


def load_program(binary: bytes, name: str, soc: Soc) -> Program:
    """The program of a binary; the same object when it is asked for again, under whatever name."""
    key = (sha256(binary).digest(), id(soc))
    program = _PROGRAMS.get(key)
    if program is None:
        if len(_PROGRAMS) >= _PROGRAM_LIMIT:
            _PROGRAMS.clear()
        program = _PROGRAMS[key] = Program(decode(binary, name), soc)
    return program


class _Translator:
    """Writes the Python source of one variant of a program."""

    def __init__(self, program: Program, variant: Variant) -> None:
        self.program = program
        self.variant = variant
        self.costs = {warm: program.soc.costs(warm) for warm in (False, True)}
        self.lines: list[str] = []
        self.numbers: list[int | None] = []
        """For each line, the instruction that it executes."""
        self.names: dict[SSAValue, str] = {}
        """A Python expression for each value: a variable or a literal."""
        self.scope: dict[str, Any] = dict(SCALAR_FUNCTIONS, inf=math.inf, nan=math.nan, __builtins__=__builtins__)
        self.numbering = {op: number for number, op in enumerate(program.instructions)}
        self.pending = 0
        """Scalar cycles that the time `t` does not have yet."""

    def compile(self) -> tuple[CoreFunction, list[int | None]]:
        """The function, and for each line of its source the instruction there."""
        kernel = self.program.kernel
        arguments = [self._name(value) for value in kernel.body.block.args]
        warm = [f"w{position}" for position in range(len(arguments))]
        parameters = ", ".join(("memory", "core", *arguments, *warm, "checker", "trace"))
        self._line(0, f"def run({parameters}):")
        self._line(1, "n = read = written = t = 0")
        for queue in _QUEUES if self.variant.cycles else ():
            self._line(1, f"f_{queue} = d_{queue} = b_{queue} = 0")
        for pair in sorted({_event_name(op) for op in kernel.walk() if isinstance(op, FlagInstruction)}):
            self._line(1, f"{pair} = [0] * 8")
        self._block(kernel.body.block, 1)
        if self.variant.cycles:
            ends = ", ".join(f"f_{queue}, d_{queue}" for queue in _QUEUES)
            busy = ", ".join(f"{queue!r}: b_{queue}" for queue in _QUEUES)
            self._line(1, f"return max(t, {ends}), {{{busy}}}, n, read, written")
        else:
            self._line(1, "return 0, {}, n, read, written")
        source = "\n".join(self.lines)
        exec(compile(source, SOURCE_NAME, "exec"), self.scope)
        return self.scope["run"], self.numbers

    # Lines and names.

    def _line(self, depth: int, text: str, number: int | None = None) -> None:
        self.lines.append("    " * depth + text)
        self.numbers.append(number)

    def _name(self, value: SSAValue) -> str:
        """The expression of a value: a literal, the address of a buffer, or a variable."""
        known = self.names.get(value)
        if known is None:
            constant, alloc = constant_value(value), root_alloc(value)
            if constant is not None:
                known = _literal(constant)
            elif alloc is not None:
                known = str(alloc.place)
            elif isinstance(value.owner, BlockIdxOp):
                known = "core"
            else:
                known = f"r{len(self.names)}"
            self.names[value] = known
        return known

    # Operations.

    def _block(self, block: Block, depth: int) -> None:
        """The statements of a block."""
        self._line(depth, f"n += {sum(isinstance(op, Instruction) for op in block.ops)}")
        for op in block.ops:
            self._operation(op, depth)
        self._flush(depth)

    def _flush(self, depth: int) -> None:
        if self.pending and self.variant.cycles:
            self._line(depth, f"t += {self.pending}")
        self.pending = 0

    def _operation(self, op: Operation, depth: int) -> None:
        match op:
            case scf.YieldOp() | arith.ConstantOp() | AllocOp() | BlockIdxOp():
                pass
            case FlagInstruction():
                self._flag(op, depth)
            case PipeBarrier():
                self._barrier(op, depth)
            case Instruction():
                self._instruction(op, depth)
            case scf.ForOp():
                self._flush(depth)
                bounds = ", ".join(self._name(value) for value in (op.lb, op.ub, op.step))
                self._line(depth, f"for {self._name(op.body.block.args[0])} in range({bounds}):")
                self.pending = LOOP_CYCLES
                self._block(op.body.block, depth + 1)
            case scf.IfOp():
                self.pending += 1
                self._flush(depth)
                self._line(depth, f"if {self._name(op.cond)}:")
                self._block(op.true_region.block, depth + 1)
                if op.false_region.blocks:
                    self._line(depth, "else:")
                    self._block(op.false_region.block, depth + 1)
            case _:
                self._scalar(op, depth)

    def _scalar(self, op: Operation, depth: int) -> None:
        operands = [self._name(value) for value in op.operands]
        if isinstance(op, arith.CmpiOp):
            expression = f"int({operands[0]} {COMPARISONS[op.predicate.value.data]} {operands[1]})"
        else:
            expression = SCALAR_BY_CLASS[type(op)].python.format(*operands)
        self._line(depth, f"{self._name(op.results[0])} = {expression}")
        self.pending += 1

    # Instructions.

    def _values(self, op: Instruction, addresses: bool = True) -> list[str]:
        """An expression for each argument of `execute`; without `addresses`, 0 in place of each address."""
        found: list[str] = []
        for field, buffer, value in op.parts():
            text = self._name(value) if isinstance(value, SSAValue) else _literal(value)
            if buffer is not None:
                text = _sum(self._name(buffer), text) if addresses else "0"
            found.append(text)
            if isinstance(field, Address) and len(field.spaces) > 1:
                found.append(_literal(op.space(field.name).value))
        return found

    def _instruction(self, op: Instruction, depth: int) -> None:
        number = self.numbering[op]
        values = self._values(op)
        arguments = ", ".join(values)
        name = op.name.removeprefix("cube.")
        self.scope[name] = INSTRUCTIONS[name].execute
        if self.variant.checks:
            self._line(depth, f"checker.instruction({number}, {arguments})", number)
        result = f"{self._name(op.results[0])} = " if op.results else ""
        if self.variant.computes:
            self._line(depth, f"{result}{name}(memory, {arguments})", number)
        elif result:
            self._line(depth, f"{result}1.0", number)  # decides nothing: loops and conditions are of integers
        self._count_bytes(op, values, depth)
        if self.variant.cycles:
            self._time(op, depth)

    def _count_bytes(self, op: Instruction, values: list[str], depth: int) -> None:
        for counter, field in (("read", "src"), ("written", "dst")):
            if _gm_field(op) == field:
                at = {f.name: value for f, value in zip(op.FIELDS, values, strict=True)}
                self._line(depth, f"{counter} += {at['bursts']} * {at['length']} * {BLOCK}")

    def _time(self, op: Instruction, depth: int) -> None:
        pipe = op.pipe.value
        self.pending += 1
        self._flush(depth)
        cost = self._cost(op)
        if not cost.isdigit():
            self._line(depth, f"k = {cost}")
            cost = "k"
        if op.pipe is Pipe.S:
            self._line(depth, f"t += {cost}")
            return
        latency = self.program.soc.pipes[pipe].latency
        self._line(depth, f"f_{pipe} = (f_{pipe} if f_{pipe} > t else t) + {cost}")
        self._line(depth, f"d_{pipe} = f_{pipe} + {latency}")
        self._line(depth, f"b_{pipe} += {cost}")
        if self.variant.trace:
            event = f"(core, {pipe!r}, {self.numbering[op]}, f_{pipe} - {cost}, f_{pipe})"
            self._line(depth, f"trace.append({event})")

    def _cost(self, op: Instruction) -> str:
        """An expression for how many cycles an instruction holds its pipe, which no address changes."""
        gm_field = _gm_field(op)
        warm = "False" if gm_field is None else self._warm(op.address(gm_field)[0])
        overhead = self.program.soc.pipes[op.pipe.value].overhead
        formula = _cost_function(type(op), overhead, self.costs[False], self.costs[True])
        if any(isinstance(value, SSAValue) for _, buffer, value in op.parts() if buffer is None):
            name = f"cost_{op.name.removeprefix('cube.')}"
            self.scope[name] = formula
            return f"{name}({', '.join((warm, *self._values(op, addresses=False)))})"
        cold_cycles, warm_cycles = (formula(is_warm, *op.values(lambda _: 0)) for is_warm in (False, True))
        return str(cold_cycles) if cold_cycles == warm_cycles else f"{warm_cycles} if {warm} else {cold_cycles}"

    def _warm(self, argument: SSAValue) -> str:
        return f"w{self.program.kernel.body.block.args.index(argument)}"

    # Synchronisation.

    def _flag(self, op: FlagInstruction, depth: int) -> None:
        number = self.numbering[op]
        value = op.field("event")
        event = self._name(value) if isinstance(value, SSAValue) else str(value)
        raises = isinstance(op, SetFlag)
        if self.variant.checks:
            self._line(depth, f"checker.{'set' if raises else 'wait'}_flag({number}, {event})", number)
        if not self.variant.cycles:
            return
        self.pending += 1
        self._flush(depth)
        flag = f"{_event_name(op)}[{event}]"
        pipe = op.pipe.value
        if raises:
            done = f"f_{pipe}, d_{pipe}, " if op.pipe is not Pipe.S else ""
            self._line(depth, f"{flag} = max({done}t) + 1" if done else f"{flag} = t + 1", number)
        elif op.pipe is Pipe.S:
            self._line(depth, f"t = max(t, {flag}) + 1", number)
        if op.pipe is not Pipe.S:
            waited = "" if raises else f", {flag}"
            self._line(depth, f"f_{pipe} = max(f_{pipe}, t{waited}) + 1", number)

    def _barrier(self, op: PipeBarrier, depth: int) -> None:
        number = self.numbering[op]
        if self.variant.checks:
            self._line(depth, f"checker.barrier({number})", number)
        if not self.variant.cycles:
            return
        self.pending += 1
        self._flush(depth)
        if op.holds_all:
            self._line(depth, f"t = max(t, {', '.join(f'f_{queue}, d_{queue}' for queue in _QUEUES)}) + 1")
        elif op.pipe is not Pipe.S:
            pipe = op.pipe.value
            self._line(depth, f"f_{pipe} = max(f_{pipe}, d_{pipe}, t) + 1")


def _literal(value: Immediate) -> str:
    """The Python text of an immediate; infinities and NaN are names in the scope."""
    return repr(value)


def _sum(base: str, offset: str) -> str:
    """The text of base + offset, added here where both are numbers."""
    if base.isdigit() and offset.isdigit():
        return str(int(base) + int(offset))
    return base if offset == "0" else offset if base == "0" else f"{base} + {offset}"


def _gm_field(op: Instruction) -> str | None:
    """The address field that points into global memory."""
    for field in op.address_fields():
        if field.spaces == (Space.GM,):
            return field.name
    return None


def _event_name(op: FlagInstruction) -> str:
    return f"e_{op.src}_{op.dst}"


def _cost_function(cls: type[Instruction], overhead: int, cold: Any, warm: Any) -> Callable[..., int]:
    """Cycles that an instruction holds its pipe, as a function of whether its argument is warm, and of its fields."""

    @lru_cache(maxsize=4096)
    def cycles(is_warm: bool, *values: Immediate) -> int:
        return math.ceil(cls.cycles(warm if is_warm else cold, *values)) + overhead

    return cycles
