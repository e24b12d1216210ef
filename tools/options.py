"""Command lines in the style of ATC: ``--name=value`` or ``--name value``, strict about what they are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ge.ir.errors import GeError


@dataclass(frozen=True)
class Option:
    """An option. ``value`` names what it takes (``A|B`` are the only values); without one it is a switch."""

    name: str
    value: str
    help: str

    @property
    def choices(self) -> list[str]:
        """The values it takes, where it takes only some."""
        return self.value.split("|") if "|" in self.value else []


_ATC_ONLY = """
ac_parallel_enable aicore_num allow_hf32 atomic_clean_policy auto_tune_mode buffer_optimize build_config cal_conf
cluster_config compress_weight_conf compression_optimize_conf core_type customize_dtypes debug_dir
deterministic deterministic_level device_id display_model_info dump_mode dynamic_batch_size dynamic_dims
dynamic_image_size enable_attr_compression enable_compress_weight enable_scope_fusion_passes enable_single_stream
enable_small_channel export_compile_stat external_weight hccl_sub_comm_config host_env_cpu host_env_os
input_fp16_nodes input_hint_shape input_shape_range insert_op_conf is_input_adjust_hw_layout
is_output_adjust_hw_layout is_weight_clip jit_compile mdl_bank_path modify_mixlist
multi_stream_parallel_mode oo_constant_folding oo_dead_code_elimination op_bank_path op_compiler_cache_dir
op_compiler_cache_mode op_debug_config op_debug_level op_name_map op_precision_mode op_select_implmode
optimization_switch optypelist_for_implmode out_nodes output_type precision_mode_v2 quant_dumpable raw_ge_options
save_original_model shape_generalized_build_mode singleop sparsity static_model_ops_lower_limit status_check target
tiling_schedule_optimize topo_sorting_mode virtual_type weight
"""

ATC_OPTIONS = frozenset(_ATC_ONLY.split())
"""Options of ATC that this compiler does not have: naming one is an error of its own, not a spelling mistake."""


def parse_options(arguments: Iterable[str], options: Sequence[Option]) -> dict[str, str]:
    """The values of the options given, by name; a switch that is given has the value ``1``.

    Raises GE2006 (wrong or missing value), GE2007 (unknown option) or GE2009 (an option of ATC that is not there).
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
        if option.value and not equals:
            if not rest:
                raise GeError("GE2006", f"option --{name} needs a value: --{name}={option.value}")
            value = rest.pop(0)
        if not option.value and equals:
            raise GeError("GE2006", f"option --{name} takes no value")
        if option.value and not value:
            raise GeError("GE2006", f"the value of option --{name} is empty: --{name}={option.value}")
        if option.choices and value not in option.choices:
            raise GeError(
                "GE2006", f"option --{name} cannot be '{value}'", remedy=f"It is {' or '.join(option.choices)}."
            )
        values[name] = value or "1"
    return values


def _find(name: str, known: dict[str, Option]) -> Option:
    if name in known:
        return known[name]
    if name in ATC_OPTIONS:
        raise GeError("GE2009", f"option --{name} of ATC is not supported")
    near = get_close_matches(name, known, n=1)
    hint = f", did you mean --{near[0]}?" if near else ""
    raise GeError("GE2007", f"option --{name} is unknown{hint}")


def options_help(usage: str, options: Sequence[Option]) -> str:
    """The text of ``--help``."""
    names = [f"--{option.name}{'=' if option.value else ''}{option.value}" for option in options]
    width = max(len(name) for name in names)
    lines = [f"  {name.ljust(width)}  {option.help}" for name, option in zip(names, options, strict=True)]
    return "\n".join([usage, "", *lines])
