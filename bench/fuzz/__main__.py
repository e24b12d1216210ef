"""The command line of the fuzzer; see the package docstring."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one case at a time, and less memory in use; read when NumPy loads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench.fuzz.campaign import Campaign
from bench.fuzz.minimise import minimise
from bench.fuzz.page import PAGE, Run, write_page
from bench.fuzz.sandbox import Result
from bench.fuzz.verdict import FAILURES

TARGETS = ("onnx", "mlir", "om")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases, print what came of them; the exit status is 1 when any failed."""
    parser = argparse.ArgumentParser("python -m bench.fuzz", description="Feed damaged files to the compiler.")
    parser.add_argument("target", nargs="+", choices=TARGETS)
    parser.add_argument("--count", type=int, default=1000, help="how many cases (default 1000)")
    parser.add_argument("--seed", type=int, nargs="+", default=[0], help="another seed gives other cases (default 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default 0)")
    parser.add_argument("--case", type=int, help="only the case of this number, with the traceback")
    parser.add_argument("--small", action="store_true", help="only a few small seed files")
    parser.add_argument("--save", type=Path, metavar="DIR", help="write a small file for each kind of failure")
    parser.add_argument("--write", action="store_true", help=f"write what came of it to docs/{PAGE.name}")
    options = parser.parse_args(arguments)
    runs = [_run(target, seed, options) for target in options.target for seed in options.seed]
    if options.write:
        numbers = " ".join(map(str, options.seed))
        command = f"python -m bench.fuzz {' '.join(options.target)} --count {options.count} --seed {numbers} --write"
        write_page(runs, command)
    return int(any(result.verdict in FAILURES for run in runs for result in run.results))


def _run(target: str, seed: int, options: argparse.Namespace) -> Run:
    """One campaign, or the one case that is asked for."""
    with tempfile.TemporaryDirectory(prefix="ge-fuzz-") as folder:
        campaign = Campaign(target, seed, Path(folder), small=options.small)
        if options.case is not None:
            return Run(target, seed, [_show_case(campaign, options.case, options.save)])
        start = time.monotonic()
        results: list[Result] = []
        for result in campaign.run(range(options.first, options.first + options.count)):
            results.append(result)
            if result.verdict in FAILURES:
                print(f"  case {result.number}: {result.verdict} at {result.stage}: {result.message}", flush=True)
        _summarise(f"{target}, seed {seed}", results, time.monotonic() - start)
        failures = _by_signature(results)
        _list_failures(failures)
        if options.save is not None:
            _save(campaign, failures, options.save)
        return Run(target, seed, results)


def _show_case(campaign: Campaign, number: int, save: Path | None) -> Result:
    case = campaign.target.case(campaign.seed, number)
    path = campaign.write(case.data)
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        (save / path.name).write_bytes(case.data)
    print(f"case {number}, made from {case.seed_file.name} by {case.steps} mutations: {len(case.data)} bytes")
    result = campaign.run_here(number)
    print(f"{result.verdict} at {result.stage} after {result.seconds:.2f} s: {result.message}")
    return result


def _summarise(target: str, results: Sequence[Result], seconds: float) -> None:
    """Print a table: how the cases ended, and where."""
    print(f"\n{target}: {len(results)} cases in {seconds:.0f} s")
    verdicts = Counter(result.verdict for result in results)
    print("  " + ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()))
    stages: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        stages[result.stage or "start"][result.verdict] += 1
    for stage, counts in stages.items():
        print(f"  {stage:<16}" + "  ".join(f"{verdict} {count}" for verdict, count in counts.most_common()))
    codes = Counter(result.code for result in results if result.code)
    print("  " + "  ".join(f"{code} {count}" for code, count in codes.most_common()))
    slowest = max(results, key=lambda result: result.seconds)
    print(f"  slowest: case {slowest.number}, {slowest.seconds:.1f} s at {slowest.stage}")


def _by_signature(results: Sequence[Result]) -> dict[str, list[Result]]:
    failures: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        if result.verdict in FAILURES:
            failures[f"{result.verdict}: {result.signature}"].append(result)
    return failures


def _list_failures(failures: dict[str, list[Result]]) -> None:
    print(f"  {len(failures)} kinds of failure")
    for name, results in sorted(failures.items(), key=lambda item: -len(item[1])):
        numbers = ", ".join(str(result.number) for result in results[:5])
        print(
            f"  {len(results):>5} x {name}\n          cases {numbers}; {results[0].stage}: {results[0].message[:300]}"
        )


def _save(campaign: Campaign, failures: dict[str, list[Result]], folder: Path) -> None:
    """Write a small failing file for each kind of failure."""
    folder.mkdir(parents=True, exist_ok=True)
    for results in failures.values():
        wanted = results[0]
        data = minimise(
            campaign.target,
            campaign.seed,
            wanted.number,
            lambda data, wanted=wanted: campaign.run_data(data).signature == wanted.signature,
        )
        file = folder / f"{wanted.number}.{campaign.target.name}"
        file.write_bytes(data)
        print(f"  wrote {file}: {wanted.signature}")


if __name__ == "__main__":
    sys.exit(main())
