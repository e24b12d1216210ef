"""Sessions: several runs at once, inputs that are not copied, values inside a model, profiling on and off."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder

from ge import Runtime
from ge.dialects.onnx import meaning
from ge.ir.errors import GeError
from ge.targets.ascend.om.model import Task
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime.model import Session
from ge.targets.ascend.runtime.statistics import TaskRun
from ge.targets.ascend.simulator import blas
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions

Array = np.ndarray[Any, np.dtype[Any]]


def network(seed: int) -> ModelBuilder:
    """Convolutions and a matrix product in kernels, a cumulative sum on the host."""
    builder = ModelBuilder(seed=seed)
    x = builder.input("x", 1, 16, 10, 10)
    y = builder.node("Relu", builder.conv_bn(x, 16, 32), name="block/relu1")
    y = builder.node("Relu", builder.conv_bn(y, 32, 16), name="block/relu2")
    y = builder.node("Flatten", builder.node("GlobalAveragePool", y, name="pool"), name="flat")
    y = builder.node("Gemm", y, builder.weights(16, 24), builder.weights(24), name="fc")
    builder.output(builder.node("CumSum", y, builder.constant(1, np.int64), name="y"))
    return builder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], bytes]:
    made: dict[int, bytes] = {}

    def file(seed: int) -> bytes:
        if seed not in made:
            path = tmp_path_factory.mktemp("models") / "model.onnx"
            onnx.save(network(seed).build(), path)
            made[seed] = model_bytes(compile_model(CompileOptions(Path(path))).module)
        return made[seed]

    return file


def batches(count: int) -> list[Array]:
    random = np.random.default_rng(0)
    return [random.standard_normal((1, 16, 10, 10)).astype(np.float32) for _ in range(count)]


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_threads_share_a_model_and_get_the_same_bits(compiled: Callable[[int], bytes], threads: int | None) -> None:
    model = Runtime(threads=threads).load(compiled(0))
    inputs = batches(12)
    alone = [model.run(x)["y"].tobytes() for x in inputs]
    assert len(set(alone)) == len(alone)
    with ThreadPoolExecutor(4) as pool:
        together = [each["y"].tobytes() for each in pool.map(model.run, inputs)]
    assert together == alone


def test_products_of_the_host_use_one_thread(compiled: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """How many threads share a large product, and so its bits, would depend on what else runs."""
    functions = blas._thread_functions()  # pyright: ignore[reportPrivateUsage]
    if functions is None:
        return
    get_threads, set_threads = functions
    seen: list[int] = []
    run_task = Session._run_on_host  # pyright: ignore[reportPrivateUsage]

    def watched(session: Session, task: Task) -> TaskRun:
        seen.append(get_threads())
        return run_task(session, task)

    monkeypatch.setattr(Session, "_run_on_host", watched)
    before = get_threads()
    set_threads(2)
    try:
        Runtime().load(compiled(0)).run(batches(1)[0])
        assert get_threads() == 2
    finally:
        set_threads(before)
    assert seen and set(seen) == {1}


def test_several_models_run_at_the_same_time(compiled: Callable[[int], bytes]) -> None:
    models = [Runtime().load(compiled(seed)) for seed in (0, 1)]
    jobs = [(model, x) for x in batches(6) for model in models]
    alone = [model.run(x)["y"].tobytes() for model, x in jobs]
    with ThreadPoolExecutor(4) as pool:
        together = [each["y"].tobytes() for each in pool.map(lambda job: job[0].run(job[1]), jobs)]
    assert together == alone


def test_a_run_that_fails_leaves_the_model_usable(compiled: Callable[[int], bytes]) -> None:
    model = Runtime(threads=1).load(compiled(0))
    (x,) = batches(1)
    before = model.run(x)["y"]
    for _ in range(2):
        with pytest.raises(GeError):
            model.run(x[0])
    np.testing.assert_array_equal(model.run(x)["y"], before)


def test_products_use_one_thread_until_the_last_leaves() -> None:
    functions = blas._thread_functions()  # pyright: ignore[reportPrivateUsage]
    if functions is None:
        return
    get_threads, _ = functions
    before = get_threads()
    first, second = blas.one_thread(), blas.one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert get_threads() == 1
    second.__exit__(None, None, None)
    assert get_threads() == before


@pytest.mark.parametrize("threads", [0, -1])
def test_fewer_threads_than_one_are_refused(threads: int) -> None:
    with pytest.raises(GeError) as error:
        Runtime(threads=threads)
    assert error.value.code == "GE2006"


def test_an_input_of_the_host_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ModelBuilder()
    builder.output(builder.node("CumSum", builder.input("x", 3, 4), builder.constant(1, np.int64), name="y"))
    onnx.save(builder.build(), tmp_path / "model.onnx")
    model = Runtime().load(model_bytes(compile_model(CompileOptions(tmp_path / "model.onnx")).module))
    seen: list[Array] = []
    run_module = meaning.run_module
    monkeypatch.setattr(meaning, "run_module", lambda module, inputs: seen.extend(inputs.values()) or run_module(module, inputs))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]  # fmt: skip  # noqa: E501
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for given, shared in ((x, True), (np.asfortranarray(x), False)):
        seen.clear()
        np.testing.assert_array_equal(model.run(given)["y"], np.cumsum(x, 1))
        assert np.shares_memory(seen[0], given) is shared and not seen[0].flags.writeable


def test_an_input_that_is_an_output_too_is_copied(tmp_path: Path) -> None:
    builder = ModelBuilder()
    x = builder.input("x", 3, 4)
    builder.output(builder.node("CumSum", x, builder.constant(1, np.int64), name="y"))
    builder.output(builder.node("Reshape", x, builder.constant([12], np.int64), name="flat"))
    onnx.save(builder.build(), tmp_path / "model.onnx")
    model = Runtime().load(model_bytes(compile_model(CompileOptions(tmp_path / "model.onnx")).module))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    outputs = model.run(x)
    np.testing.assert_array_equal(outputs["flat"], x.reshape(-1))
    assert not np.shares_memory(outputs["flat"], x)


def test_taps_are_the_values_of_nodes(compiled: Callable[[int], bytes]) -> None:
    model = Runtime().load(compiled(0))
    (x,) = batches(1)
    plain = model.run(x)
    outputs = model.run(x, tap=["block/*", "y"])
    assert list(outputs) == ["y"] and not plain.taps
    np.testing.assert_array_equal(outputs["y"], plain["y"])
    assert {"block/relu1", "block/relu2", "y"} <= set(outputs.taps)
    assert outputs.taps["block/relu1"].shape == (1, 32, 10, 10)
    assert outputs.taps["block/relu1"].dtype == np.float16
    np.testing.assert_array_equal(outputs.taps["y"], outputs["y"])


def test_a_tap_that_names_nothing_is_one_error(compiled: Callable[[int], bytes]) -> None:
    with pytest.raises(GeError, match="'/layer9/\\*'") as error:
        Runtime().run(compiled(0), batches(1), tap=["/layer9/*"])
    assert error.value.code == "GE6012"


def test_without_profile_nothing_is_counted(compiled: Callable[[int], bytes]) -> None:
    (x,) = batches(1)
    counted, plain = (Runtime(profile=profile).run(compiled(0), x) for profile in (True, False))
    assert counted["y"].tobytes() == plain["y"].tobytes()
    assert counted.statistics.cycles > 0 and plain.statistics.cycles == 0


def test_the_signature_says_what_runs_give(compiled: Callable[[int], bytes]) -> None:
    model = Runtime().load(compiled(0))
    assert [str(each) for each in (*model.inputs, *model.outputs)] == ["x: float32[1, 16, 10, 10]", "y: float32[1, 24]"]
    outputs = model.run(batches(1))
    assert [(each.name, each.shape, each.dtype) for each in model.outputs] == [
        (name, value.shape, value.dtype) for name, value in outputs.items()
    ]
