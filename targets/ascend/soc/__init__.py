"""SoC descriptions: what a chip can do and how fast, read from the TOML files of this folder.

To add a SoC, add a file; `ascend310p3.toml` explains every entry. A file with `like = "NAME"` states only what differs
from that SoC. Files in the folders that the environment variable GE_SOC_PATH lists are found, too, and come first.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, cast

from ge.ir.errors import GeError

SEARCH_PATH = "GE_SOC_PATH"
"""The environment variable that lists folders of SoC files."""

_OWN_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PipeCost:
    """Cycles that an instruction costs besides its data.

    `overhead` holds the pipe for every instruction; `latency` passes until the result is there, while the pipe goes on.
    """

    overhead: int
    latency: int


@dataclass(frozen=True)
class Load3dCost:
    """The rate of `load3d`, in bytes per cycle; the file tells the formula."""

    port: float
    strides: tuple[int, ...]
    extra: Mapping[str, float]
    slowest: Mapping[str, float]


@dataclass(frozen=True)
class Soc:
    """One SoC. Sizes are in bytes, rates in bytes (vector unit: elements) per cycle of one core, costs in cycles.

    Memories are named `gm`, `l1`, `l0a`, `l0b`, `l0c`, `ub`, and paths between them `l1->l0a`; pipes are `s`, `v`, `m`,
    `mte1`, `mte2`, `mte3`.
    """

    name: str
    architecture: str
    cores: int
    clock_mhz: float
    l2_bytes: int
    memory_bytes: int
    event_ids: int
    launch_us: float
    event_us: float
    paths: frozenset[str]
    lacks: frozenset[str]
    """Short names of the instructions that it does not have."""
    buffers: Mapping[str, int]
    alignment: Mapping[str, int]
    ddr_rate: float
    l2_rate: float
    gm_line: int
    rates: Mapping[str, float]
    load3d: Load3dCost
    vector: Mapping[str, Mapping[str, float]]
    pipes: Mapping[str, PipeCost]

    def seconds(self, cycles: float) -> float:
        """The time that `cycles` take."""
        return cycles / (self.clock_mhz * 1e6)

    @property
    def launch_cycles(self) -> int:
        """Cycles between the start of a kernel by the host and its first instruction."""
        return round(self.launch_us * self.clock_mhz)

    @property
    def event_cycles(self) -> int:
        """Cycles from the end of a task to when what waits for it in another stream may be started."""
        return round(self.event_us * self.clock_mhz)

    def costs(self, warm: bool = False) -> SocCosts:
        """What the cost formulas of instructions ask; `warm` if the argument in global memory is in the L2 cache."""
        return SocCosts(self, self.l2_rate if warm else self.ddr_rate)


@dataclass(frozen=True)
class SocCosts:
    """The `ge.dialects.cube.instruction.Costs` of a SoC, for one rate of global memory."""

    soc: Soc
    gm_rate: float

    @property
    def gm_line(self) -> int:
        """Bytes of which every run in global memory costs a multiple."""
        return self.soc.gm_line

    def rate(self, path: str) -> float:
        """Bytes per cycle of a path between on-chip memories."""
        return self.soc.rates[path]

    def lanes(self, kind: str, dtype: str) -> float:
        """Elements per cycle of the vector unit."""
        return self.soc.vector[kind][dtype]

    def load3d_rate(self, space: str, stride_w: int, rows: int) -> float:
        """Bytes per cycle of `load3d` into `space`, when 16 output positions lie in `rows` output rows."""
        cost = self.soc.load3d
        slowest, peak = cost.slowest[space], self.rate(f"l1->{space}")
        if stride_w not in cost.strides:
            return slowest
        if stride_w == 1 and rows == 1:
            return peak
        reads = 2 if stride_w == 1 else 2 * stride_w
        crossings = rows if rows > 1 else 0
        return min(peak, max(slowest, cost.port // (reads + crossings + cost.extra[space])))


def soc_names() -> list[str]:
    """The names of all SoCs, in alphabetical order."""
    return sorted({table["name"] for table in _tables().values()})


def load_soc(name: str) -> Soc:
    """The SoC of that name, whatever the case of its letters. Raises GE2020 and GE2021."""
    return _load(name.lower(), os.environ.get(SEARCH_PATH, ""))


@cache
def _load(name: str, search_path: str) -> Soc:
    tables = _tables()
    if name not in tables:
        known = soc_names()
        near = get_close_matches(name, [k.lower() for k in known], n=3, cutoff=0.5)
        listed = [k for k in known if k.lower() in near] or known
        raise GeError("GE2020", f"there is no SoC '{name}'", remedy=f"Did you mean {', '.join(listed)}?")
    table = _inherit(tables, name)
    try:
        return _soc(table)
    except KeyError as error:
        raise GeError("GE2021", f"entry {error.args[0]!r} is missing", where=f"SoC {table['name']}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise GeError("GE2021", str(error), where=f"SoC {table['name']}") from error


def _files() -> Iterator[Path]:
    """Every SoC file; those of the user come last, so that they win."""
    yield from sorted(_OWN_FOLDER.glob("*.toml"))
    for folder in reversed(os.environ.get(SEARCH_PATH, "").split(os.pathsep)):
        if folder:
            yield from sorted(Path(folder).glob("*.toml"))


def _tables() -> dict[str, dict[str, Any]]:
    """The contents of every SoC file, by the lower-case name of the SoC."""
    tables: dict[str, dict[str, Any]] = {}
    for file in _files():
        try:
            table = tomllib.loads(file.read_text())
            tables[str(table["name"]).lower()] = table
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise GeError("GE2021", str(error), where=str(file)) from error
        except KeyError as error:
            raise GeError("GE2021", "entry 'name' is missing", where=str(file)) from error
    return tables


def _inherit(tables: Mapping[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """The entries of a SoC, with those that it takes from another one."""
    chain: list[str] = []
    while True:
        if name not in tables or name in chain:
            raise GeError("GE2021", f"'like' names no other SoC: {name}", where=f"SoC {chain[-1] if chain else name}")
        chain.append(name)
        if "like" not in tables[name]:
            break
        name = str(tables[name]["like"]).lower()
    merged: dict[str, Any] = {}
    for link in reversed(chain):
        merged = _merge(merged, tables[link])
    return merged


def _merge(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes`; tables in both are merged."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        both_tables = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merge(cast("dict[str, Any]", old), cast("dict[str, Any]", value)) if both_tables else value
    return merged


def _soc(table: Mapping[str, Any]) -> Soc:
    gm, load3d = table["gm"], table["load3d"]
    return Soc(
        name=table["name"],
        architecture=table["architecture"],
        cores=table["cores"],
        clock_mhz=table["clock_mhz"],
        l2_bytes=table["l2_bytes"],
        memory_bytes=table["memory_bytes"],
        event_ids=table["event_ids"],
        launch_us=table["launch_us"],
        event_us=table["event_us"],
        paths=frozenset(table["paths"]),
        lacks=frozenset(table["lacks"]),
        buffers=dict(table["buffers"]),
        alignment=dict(table["alignment"]),
        ddr_rate=gm["ddr"],
        l2_rate=gm["l2"],
        gm_line=gm["line"],
        rates=dict(table["rates"]),
        load3d=Load3dCost(
            port=load3d["port"],
            strides=tuple(load3d["strides"]),
            extra={"l0a": load3d["extra_l0a"], "l0b": load3d["extra_l0b"]},
            slowest={"l0a": load3d["slowest_l0a"], "l0b": load3d["slowest_l0b"]},
        ),
        vector={kind: dict(rates) for kind, rates in table["vector"].items()},
        pipes={pipe: PipeCost(**cost) for pipe, cost in table["pipes"].items()},
    )
