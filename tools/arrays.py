"""Arrays on the command line: inputs from files or at random, outputs to files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ge.ir.constants import numpy_dtype, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.ir.functions import body_of


@dataclass(frozen=True)
class InputInfo:
    """An input of a module of any level."""

    name: str
    type: Attribute

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of a tensor, ``DYNAMIC_INDEX`` for one that is not known; nothing for other types."""
        try:
            return tensor_type_of(self.type).get_shape()
        except GeError:
            return ()

    def random(self, generator: np.random.Generator) -> NDArray[Any]:
        """Values of the input's type: normally distributed floats, integers 0 or 1.

        Raises GE6002 without a shape, and GE6009 when there is not enough memory for them.
        """
        try:
            dtype, shape = numpy_dtype(tensor_type_of(self.type).element_type), static_shape(self.type)
        except GeError as error:
            what = f"input '{self.name}' has type {self.type}, which has no random values"
            raise GeError("GE6002", what, remedy=f"Give it with --input {self.name}=FILE.") from error
        try:
            values = generator.integers(0, 2, shape) if dtype.kind in "iub" else generator.standard_normal(shape)
            return values.astype(dtype)
        except (MemoryError, ValueError) as error:  # the latter for sizes that NumPy cannot address
            raise GeError("GE6009", f"there is no memory for input '{self.name}' of type {self.type}") from error


def main_inputs(module: ModuleOp) -> tuple[InputInfo, ...]:
    """The inputs of the function of a module at the onnx or graph level. Raises GE3004 when there is none."""
    main = next((op for op in module.ops if isinstance(op, FuncOp)), None)
    if main is None:
        raise GeError("GE3004", "the module has no function to run")
    arguments = body_of(main).args
    names = main.attributes.get("graph.input_names", main.attributes.get("onnx.input_names"))
    if not isinstance(names, ArrayAttr):
        return tuple(InputInfo(f"arg{number}", argument.type) for number, argument in enumerate(arguments))
    listed = [name.data for name in cast("ArrayAttr[StringAttr]", names)]
    return tuple(InputInfo(name, argument.type) for name, argument in zip(listed, arguments, strict=True))


def random_inputs(inputs: Iterable[InputInfo], seed: int) -> dict[str, NDArray[Any]]:
    """A random value for every input; the same ones for the same seed."""
    generator = np.random.default_rng(seed)
    return {info.name: info.random(generator) for info in inputs}


def read_inputs(specs: Sequence[str], inputs: Sequence[InputInfo]) -> dict[str, Any]:
    """The arrays that the options ``--input`` name: ``name=file``, or a file alone.

    A file alone is an ``.npz`` archive with one array for each name, or the value of the one input. Raises GE6003 and
    GE6007.
    """
    values: dict[str, Any] = {}
    for spec in specs:
        name, separator, file = spec.rpartition("=")
        if separator:
            values[name] = read_array(file)
        elif spec.endswith(".npz"):
            values.update(_load(Path(spec)))
        elif len(inputs) == 1:
            values[inputs[0].name] = read_array(spec)
        else:
            raise GeError("GE6007", f"'{spec}' does not say which input it is for", remedy="Write --input name=FILE.")
    return values


def read_array(file: str) -> Any:
    """The array in an ``.npy`` file, an ``.npz`` file of one array, or a ``.pb`` file of a tensor. Raises GE6007."""
    path = Path(file)
    if path.suffix == ".pb":
        return _read_tensor(path)
    arrays = _load(path)
    if len(arrays) != 1:
        raise GeError("GE6007", f"'{file}' holds {len(arrays)} arrays, one is wanted")
    return next(iter(arrays.values()))


def _load(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name; a file of one array has one without a name."""
    try:
        loaded: Any = np.load(path)
        return {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    except (OSError, ValueError, EOFError) as error:
        raise GeError("GE6007", f"'{path}': {error}") from error


def _read_tensor(path: Path) -> Any:
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import numpy_helper

    try:
        return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))
    except (OSError, ValueError, DecodeError) as error:
        raise GeError("GE6007", f"'{path}': {error}") from error


def write_outputs(outputs: Mapping[str, Any], folder: Path) -> dict[Path, str]:
    """Write every array as ``<name>.npy``; the files, each with the name it stands for. Raises GE1003.

    What no file name can hold becomes ``_``; names that become equal get a number. A sequence is one file for each
    element, an optional value that is absent none.
    """
    files: dict[Path, str] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in _arrays_in(outputs):
            stem = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
            number = sum(file.name == f"{stem}.npy" or re.sub(r"~\d+$", "", file.stem) == stem for file in files)
            file = folder / f"{stem}{f'~{number}' if number else ''}.npy"
            np.save(file, value)
            files[file] = name
    except OSError as error:
        raise GeError("GE1003", f"cannot write to '{folder}': {error.strerror or error}") from error
    return files


def write_dump(values: Mapping[str, Any], folder: Path) -> int:
    """Write arrays, and ``names.txt`` with the name that each file stands for; their number. Raises GE1003."""
    files = write_outputs(values, folder)
    names = "".join(f"{file.name}\t{name}\n" for file, name in files.items())
    try:
        (folder / "names.txt").write_text(names, encoding="utf-8")
    except OSError as error:
        raise GeError("GE1003", f"cannot write to '{folder}': {error.strerror or error}") from error
    return len(files)


def _arrays_in(values: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays in named values, those of sequences with their number after the name."""
    for name, value in values.items():
        if isinstance(value, list):
            elements = cast("list[Any]", value)
            yield from _arrays_in({f"{name}.{number}": each for number, each in enumerate(elements)})
        elif value is not None:
            yield name, np.asarray(value)
