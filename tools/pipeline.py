"""Pass pipelines: from text to passes, and running them with dumps, verification and timing.

A pipeline is ``pass,pass{option=value flag list=a,b},pass``; on the command line of ge-opt each pass is also a flag,
``--pass='option=value flag'``. Options are the fields of the pass's dataclass: ``-`` and ``_`` are the same, a bare
name sets a flag, and a value is read as the type of its field, with no need for quotes unless it has spaces or braces.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import IO, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from ge.ir.collection import collection_rare
from ge.ir.errors import GeError
from ge.ir.functions import refuse_branches
from ge.ir.registry import Registry
from ge.ir.rewrite_log import current_log, running
from ge.ir.rewriting import RuleFailed
from ge.ir.rule_pass import RulePass
from ge.passes.pipelines import onnx_pipeline, parse_level

_REPORT_IT = "Report this with the model; --debug shows the traceback."

_BOOLEANS = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


# From text to passes


def split_pass_flags(args: Sequence[str], registry: Registry) -> tuple[list[tuple[str, str]], list[str]]:
    """Take the passes out of a command line: (name, options) in order, and the other arguments.

    ``-O2``, or ``--oo_level=O2``, stands for the passes of that level on a model. ``--fusion_rules=FILE`` is the pass
    `fusion-rules` on that file. Both are spelled as for ge-compiler. ``--target-opset=N`` leaves passes out of a level
    that make operators which that opset does not have. Raises GE2006 for an option whose value is missing or empty.
    """
    flags: list[tuple[str, str]] = []
    others: list[str] = []
    opset = _target_opset(args)
    for argument in _joined(args):
        name, equals, options = argument.removeprefix("--").partition("=")
        if argument.startswith("--") and name in registry.passes:
            flags.append((name, options))
        elif (level := _level(argument)) is not None:
            flags += _split_passes(onnx_pipeline(parse_level(level), "model", opset))
        elif argument.startswith("--") and equals and not options and name not in _MAY_BE_EMPTY:
            raise GeError("GE2006", f"the value of option --{name} is empty")
        elif argument.startswith("--fusion_rules="):
            flags.append(("fusion-rules", f"file={shlex.quote(options)}"))
        else:
            others.append(argument)
    return flags, others


_MAY_BE_EMPTY = ("passes", "pass-pipeline")

_FOLLOWED = ("-O", "--oo_level", "--fusion_rules")
"""Options that stand for passes: their value may be the next argument, too."""


def _joined(args: Sequence[str]) -> Iterator[str]:
    """The arguments, with options that stand for passes and their values in one: ``-O2``, ``--fusion_rules=FILE``."""
    rest = iter(args)
    for argument in rest:
        if argument not in _FOLLOWED:
            yield argument
            continue
        value = next(rest, "")
        if not value:
            raise GeError("GE2006", f"option {argument} needs a value")
        yield f"{argument}{'=' if argument.startswith('--') else ''}{value}"


def asks_for_level(args: Sequence[str]) -> bool:
    """Whether a command line has the passes of a level among its passes."""
    return any(_level(argument) is not None for argument in _joined(args))


def chosen_passes(flags: Sequence[tuple[str, str]], text: str, registry: Registry) -> list[ModulePass]:
    """The passes that a command line gives as flags, or as one text with -p. Raises GE2003 when there are both."""
    if flags and text:
        raise GeError("GE2003", "passes are given as flags and with -p")
    return [make_pass(*flag, registry) for flag in flags] if flags else parse_pipeline(text, registry)


def refuse_unknown_flags(parser: ArgumentParser, args: Sequence[str], registry: Registry) -> None:
    """A flag that is no option was meant as a pass: raise GE2001, with the pass that it resembles."""
    _, unknown = parser.parse_known_args(args)
    for flag in unknown:
        if flag.startswith("--"):
            find_pass(flag.removeprefix("--").partition("=")[0], registry)


def _level(argument: str) -> str | None:
    """The level that a flag names: that of ``-O2`` and ``--oo_level=O2``."""
    if argument.startswith("-O"):
        return argument.removeprefix("-")
    return argument.removeprefix("--oo_level=") if argument.startswith("--oo_level=") else None


def _target_opset(args: Sequence[str]) -> int | None:
    """The opset that ``--target-opset`` asks for; a value that is no number is refused elsewhere."""
    for position, argument in enumerate(args):
        name, equals, value = argument.partition("=")
        if name in ("--target-opset", "--target_opset"):
            text = value if equals else "".join(args[position + 1 : position + 2])
            return int(text) if text.isdecimal() else None
    return None


def parse_pipeline(text: str, registry: Registry) -> list[ModulePass]:
    """The passes of a pipeline text; ``builtin.module(...)`` around it is allowed. Raises GE2001 and GE2002."""
    text = text.strip()
    if (module := re.fullmatch(r"builtin\.module\((.*)\)", text, re.DOTALL)) is not None:
        text = module[1]
    return [make_pass(name, options, registry) for name, options in _split_passes(text)]


def _split_passes(text: str) -> Iterator[tuple[str, str]]:
    """Pass names and option texts of ``name{options},name``."""
    position = 0
    pattern = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*(?:\{((?:[^{}\"']|\"[^\"]*\"|'[^']*')*)\})?\s*(,|$)")
    while position < len(text):
        match = pattern.match(text, position)
        if match is None:
            raise GeError("GE2002", f"cannot read the pipeline from '{text[position : position + 20]}'")
        yield match[1], match[2] or ""
        position = match.end()


def find_pass(name: str, registry: Registry) -> type[ModulePass]:
    """The class of the pass ``name``. Raises GE2001, with the name that it resembles."""
    load = registry.passes.get(name)
    if load is None:
        close = get_close_matches(name, registry.passes, n=1)
        hint = f", did you mean '{close[0]}'?" if close else ""
        raise GeError("GE2001", f"pass '{name}' is unknown{hint}")
    return load()


def make_pass(name: str, options: str, registry: Registry) -> ModulePass:
    """The pass ``name`` with the options in a text. Raises GE2001 for an unknown pass, GE2002 for a wrong option."""
    pass_type = find_pass(name, registry)
    types = pass_options(pass_type)
    values: dict[str, Any] = {}
    for word in _words(name, options):
        key, has_value, value = word.partition("=")
        option = key.replace("-", "_")
        if option not in types:
            known = ", ".join(types) or "none"
            raise GeError("GE2002", f"pass '{name}' has no option '{key}'", remedy=f"Its options are: {known}.")
        try:
            values[option] = _convert(value if has_value else None, types[option])
        except ValueError as error:
            raise GeError("GE2002", f"option '{key}' of pass '{name}': {error}") from error
    missing = next((each for each in _needed_options(pass_type) if each not in values), None)
    if missing is not None:
        raise GeError("GE2002", f"pass '{name}' needs option '{missing.replace('_', '-')}'")
    try:
        return pass_type(**values)
    except (TypeError, ValueError) as error:
        raise GeError("GE2002", f"pass '{name}': {error}") from error


def _needed_options(pass_type: type[ModulePass]) -> list[str]:
    """The options of a pass that have no default value."""
    none = dataclasses.MISSING
    fields = dataclasses.fields(pass_type)
    return [field.name for field in fields if field.init and field.default is none and field.default_factory is none]


def _words(name: str, options: str) -> list[str]:
    """The words of an option text; quotes keep spaces."""
    if _QUOTING.isdisjoint(options):
        return options.split()
    try:
        return shlex.split(options)
    except ValueError as error:
        raise GeError("GE2002", f"options of pass '{name}': {error}") from error


_QUOTING = frozenset("'\"\\")
"""What ``shlex`` looks for in a text, character by character."""


@cache
def pass_options(pass_type: type[ModulePass]) -> Mapping[str, Any]:
    """The options of a pass: field name -> type."""
    types = get_type_hints(pass_type)
    return {field.name: types[field.name] for field in dataclasses.fields(pass_type) if field.init}


def _convert(text: str | None, type: Any) -> Any:
    """An option value as ``type``; None stands for a bare option name. Raises ValueError."""
    origin, arguments = get_origin(type), get_args(type)
    if origin in (Union, UnionType):
        return _convert_union(text, arguments)
    if text is None:
        if type is bool:
            return True
        raise ValueError("needs a value")
    if origin is tuple:
        return tuple(_convert(item, arguments[0]) for item in text.split(",") if item)
    if origin is Literal:
        if text not in arguments:
            raise ValueError(f"'{text}' is not one of {', '.join(map(str, arguments))}")
        return text
    if type is bool:
        if text.lower() not in _BOOLEANS:
            raise ValueError(f"'{text}' is not true or false")
        return _BOOLEANS[text.lower()]
    if type in (int, float):
        try:
            return int(text, 0) if type is int else float(text)
        except ValueError:
            raise ValueError(f"'{text}' is not a number") from None
    return text


def _convert_union(text: str | None, types: Sequence[Any]) -> Any:
    """The value as the first of several types that takes it; a bare name of an optional option is None or a flag."""
    if text is None and bool not in types and NoneType in types:
        return None
    problem = ValueError("needs a value")
    for type in sorted((type for type in types if type is not NoneType), key=lambda type: type is str):
        try:
            return _convert(text, type)
        except ValueError as error:
            problem = error
    raise problem


def pipeline_text(passes: Sequence[ModulePass]) -> str:
    """Passes, one on a line, as :func:`parse_pipeline` reads them; options with their default values are left out."""
    return ",\n".join(map(_pass_text, passes))


def _pass_text(each: ModulePass) -> str:
    options = [
        f"{field.name.replace('_', '-')}={_option_text(value)}"
        for field in dataclasses.fields(each)
        if field.init and (value := getattr(each, field.name)) != field.default
    ]
    return f"{each.name}{{{' '.join(options)}}}" if options else each.name


def _option_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_option_text, cast("tuple[Any, ...]", value)))
    return str(value).lower() if isinstance(value, bool) else shlex.quote(str(value))


# Running


@dataclass
class PassRunner:
    """Runs passes on a module. ``dump`` prints a module; ``log`` gets dumps and timing (default: standard error)."""

    verify: Callable[[ModuleOp], None]
    dump: Callable[[ModuleOp], str]
    verify_each: bool = True
    verify_first: bool = True
    """Whether the module is verified before the first pass; one that was just imported is right already."""
    dump_before: Collection[str] = ()
    """Names of passes; ``*`` is every pass."""
    dump_after: Collection[str] = ()
    log: IO[str] | None = None
    observers: Sequence[Callable[[ModulePass | None, ModuleOp], None]] = ()
    """Called with each pass and the module that it left, and before the first one with None."""
    failed: str = ""
    """The rule, or else the pass, that raised an error or left a module that is not valid."""
    seconds: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    """Pass name and wall time of every pass that ran."""

    def run(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Verify the module, then run ``passes`` in order. Every failure is a GeError that names the pass."""
        with collection_rare():
            self._run(ctx, module, passes)

    def _run(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        if self.verify_first:
            self.verify(module)
        self._observe(None, module)
        passes = [each for each in passes if _is_on(each)]
        for number, each in enumerate(passes):
            self._dump_if(self.dump_before, "Before", each, module)
            start = time.perf_counter()
            self.failed = each.name
            self._apply(each, ctx, module)
            self.seconds.append((each.name, time.perf_counter() - start))
            self._dump_if(self.dump_after, "After", each, module)
            if self.verify_each or number == len(passes) - 1:
                self._verify_after(each, module)
            self.failed = ""
            self._observe(each, module)

    def _observe(self, each: ModulePass | None, module: ModuleOp) -> None:
        for observer in self.observers:
            observer(each, module)

    def _dump_if(self, names: Collection[str], when: str, each: ModulePass, module: ModuleOp) -> None:
        if "*" in names or each.name in names:
            print(f"// -----// IR Dump {when} {each.name} //----- //", file=self.log or sys.stderr)
            print(self.dump(module), file=self.log or sys.stderr)

    def _apply(self, each: ModulePass, ctx: Context, module: ModuleOp) -> None:
        """Apply one pass; what it raises becomes a GeError."""
        try:
            if type(each).__module__.startswith("ge."):
                refuse_branches(module)
            with running(each.name):
                each.apply(ctx, module)
        except GeError:
            raise
        except RuleFailed as error:
            self.failed = error.rule
            what = f"pass '{each.name}': internal error in {error}"
            raise GeError("GE3012", what, error.place, remedy=_REPORT_IT) from error
        except RecursionError as error:
            raise GeError("GE3012", f"pass '{each.name}': regions are nested too deeply") from error
        except DiagnosticException as error:
            raise GeError("GE3012", f"pass '{each.name}': {str(error).splitlines()[0]}") from error
        except Exception as error:
            what = f"pass '{each.name}': internal error: {type(error).__name__}: {error}"
            raise GeError("GE3012", what, remedy=_REPORT_IT) from error

    def _verify_after(self, each: ModulePass, module: ModuleOp) -> None:
        try:
            self.verify(module)
        except GeError as error:
            if self.verify_each:
                what = f"after pass '{each.name}': {error.what}"
                raise GeError(error.code, what, error.where, error.why, error.remedy) from error
            what = f"after all passes, '{each.name}' the last: {error.what}"
            raise GeError(error.code, what, error.where, error.why, "--verify-each names the pass.") from error

    def timing(self) -> str:
        """The time report: a line per pass and the total."""
        total = sum(seconds for _, seconds in self.seconds)
        rows = [*self.seconds, ("total", total)]
        share = 100 / total if total else 0.0
        lines = [f"{seconds:10.4f} s {seconds * share:6.1f} %  {name}" for name, seconds in rows]
        return "\n".join(["// pass timing", *lines])


def _is_on(each: ModulePass) -> bool:
    log = current_log()
    return log is None or log.switches.allow_pass(each.name, is_rules=isinstance(each, RulePass))
