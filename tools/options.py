"""Command lines in the style of ATC: ``--name=value`` or ``--name value``, strict about what they are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from textwrap import wrap

from ge.ir.errors import GeError

SAME, OWN = "the same", "-"
"""What ATC does with an option: it takes it in the same way, or it has none of this name."""


@dataclass(frozen=True)
class Option:
    """An option. ``value`` names what it takes: ``A|B`` are the only values, ``[A]`` may be left out.

    Without a value it is a switch.
    """

    name: str
    value: str
    help: str
    atc: str = OWN
    """What ATC does with it."""
    in_file: bool = True
    """Whether it changes what is in the file that is written."""

    @property
    def choices(self) -> list[str]:
        """The values it takes, where it takes only some."""
        return self.value.split("|") if "|" in self.value else []

    @property
    def is_optional(self) -> bool:
        """Whether its value may be left out."""
        return self.value.startswith("[")

    def __str__(self) -> str:
        value = self.value
        return f"--{self.name}[={value[1:]}" if self.is_optional else f"--{self.name}{'=' if value else ''}{value}"


_ATC_ONLY = """
ac_parallel_enable aicore_num allow_hf32 atomic_clean_policy auto_tune_mode buffer_optimize build_config cal_conf
cluster_config compress_weight_conf compression_optimize_conf core_type customize_dtypes debug_dir
deterministic deterministic_level device_id display_model_info dump_mode
enable_attr_compression enable_compress_weight enable_scope_fusion_passes
enable_small_channel export_compile_stat hccl_sub_comm_config host_env_cpu host_env_os
input_fp16_nodes input_hint_shape input_shape_range is_input_adjust_hw_layout
is_output_adjust_hw_layout is_weight_clip jit_compile mdl_bank_path modify_mixlist
multi_stream_parallel_mode oo_constant_folding oo_dead_code_elimination op_bank_path op_compiler_cache_dir
op_compiler_cache_mode op_debug_config op_debug_level op_name_map op_precision_mode
optimization_switch precision_mode_v2 quant_dumpable raw_ge_options
save_original_model shape_generalized_build_mode singleop sparsity static_model_ops_lower_limit status_check target
tiling_schedule_optimize topo_sorting_mode virtual_type weight
"""

ATC_OPTIONS = frozenset(_ATC_ONLY.split())
"""Options of ATC that this compiler does not have: naming one is an error of its own, not a spelling mistake."""


def parse_options(arguments: Iterable[str], options: Sequence[Option]) -> dict[str, str]:
    """The values of the options given, by name; a switch has the value ``1``, an optional value may be empty.

    Raises GE2003 (given twice), GE2006 (wrong or missing value), GE2007 (unknown option) or GE2009 (an option of ATC
    that is not there).
    """
    known = {option.name: option for option in options}
    values: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("--"):
            raise GeError("GE2007", f"'{argument}' is not an option: options are --name=value")
        name, equals, value = argument[2:].partition("=")
        option = _find(name, known)
        if name in values:
            raise GeError("GE2003", f"option --{name} is given twice")
        if equals:
            _check_value(option, value)
        elif option.is_optional:
            value = rest.pop(0) if rest and not rest[0].startswith("-") else ""
        elif option.value:
            if not rest:
                raise GeError("GE2006", f"option --{name} needs a value: {option}")
            value = rest.pop(0)
            _check_value(option, value)
        values[name] = value or ("" if option.is_optional else "1")
    return values


def _check_value(option: Option, value: str) -> None:
    """Raise GE2006 for a value that an option does not take."""
    if not option.value:
        raise GeError("GE2006", f"option --{option.name} takes no value")
    if not value:
        raise GeError("GE2006", f"the value of option --{option.name} is empty: {option}")
    if option.choices and value not in option.choices:
        what = f"option --{option.name} cannot be '{value}'"
        raise GeError("GE2006", what, remedy=f"It is {' or '.join(option.choices)}.")


def _find(name: str, known: Mapping[str, Option]) -> Option:
    if name in known:
        return known[name]
    if name in ATC_OPTIONS:
        raise GeError("GE2009", f"option --{name} of ATC is not supported")
    near = get_close_matches(name, known, n=1)
    hint = f", did you mean --{near[0]}?" if near else ""
    raise GeError("GE2007", f"option --{name} is unknown{hint}")


# What there is, for people

_NAME_WIDTH, _HELP_WIDTH = 36, 80
"""Columns of the help: names that are longer have a line of their own."""


def options_help(usage: str, groups: Mapping[str, Sequence[Option]]) -> str:
    """The text of ``--help``."""
    lines = [usage]
    for title, options in groups.items():
        lines += ["", f"{title}:", *(line for option in options for line in _help_lines(option))]
    return "\n".join(lines)


def _help_lines(option: Option) -> Iterator[str]:
    name, texts = str(option), wrap(option.help, _HELP_WIDTH, break_on_hyphens=False)
    if len(name) > _NAME_WIDTH:
        yield f"  {name}"
        name = ""
    for text in texts:
        yield f"  {name.ljust(_NAME_WIDTH)}  {text}"
        name = ""


def options_table(groups: Mapping[str, Sequence[Option]]) -> str:
    """The same as tables in Markdown, with what ATC does."""
    lines: list[str] = []
    for title, options in groups.items():
        lines += ["", f"## {title[0].upper()}{title[1:]}", "", "| option | effect | in ATC |", "|---|---|---|"]
        lines += [f"| `{_cell(str(option))}` | {_cell(option.help)} | {_cell(option.atc)} |" for option in options]
    return "\n".join(lines[1:]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
