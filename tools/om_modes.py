"""What ge-compiler has to do with OM files beside making them, in the options of ATC.

``--mode=1 --om=FILE --json=FILE`` writes the graph of an OM file as JSON, ``--mode=6 --om=FILE`` shows what is in it;
`ge-om` does the same and more. And every OM file says how it was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

import ge
from ge.dialects.om import ModelOp
from ge.ir.errors import GeError
from ge.targets.ascend.om.conventions import AIPP, COMMAND_LINE, COMPILER_VERSION
from ge.targets.ascend.om.external_weights import plain_name
from ge.targets.ascend.om.file import OmFile
from ge.tools.ge_om import write_json
from ge.tools.om_inspection import om_facts, print_om_facts
from ge.tools.options import Option

MODES: Mapping[str, tuple[str, ...]] = {"1": ("om", "json"), "6": ("om",)}
"""The modes that read an OM file, and the options that each needs."""


def run_om_mode(values: Mapping[str, str], facts: dict[str, Any]) -> bool:
    """Do what a mode asks for that reads an OM file; False for another mode. ``--json`` as a switch gathers facts.

    Raises GE2008 for a missing option, GE2003 for one that the mode does not take, and what reading the file raises.
    """
    mode = values.get("mode", "0")
    needed = MODES.get(mode, ())
    is_switch = values.get("json") == ""
    takes = {*needed, "mode"} if needed else {*values} - {"om", "json"}
    if is_switch:
        takes.add("json")
    wrong = next((name for name in values if name not in takes), None)
    if wrong is not None:
        raise GeError("GE2003", f"--{wrong} is given with --mode={mode}, where it has no effect")
    if not needed:
        return False
    for name in needed:
        if not values.get(name):
            raise GeError("GE2008", f"option --{name}=FILE is missing: --mode={mode} needs it")
    file = OmFile.open(values["om"])
    if mode == "1":
        write_json(file, values["json"])
    elif is_switch:
        facts |= om_facts(file)
    else:
        print_om_facts(om_facts(file))
    return True


def place_weights(module: ModuleOp, values: Mapping[str, str], file: Path) -> None:
    """Say in a compiled module whether its weights are in a file beside the OM file, as ``--external_weight`` wants.

    That file has the name of the OM file, without characters that file systems treat differently.
    """
    external = StringAttr(plain_name(file.stem)) if values.get("external_weight") == "1" else None
    for op in module.ops:
        if isinstance(op, ModelOp) and op.weights_op is not None:
            op.weights_op.external = external


def record_command(
    module: ModuleOp, values: Mapping[str, str], options: Sequence[Option], plugins: Sequence[str], images: str = ""
) -> None:
    """Note in a compiled module the options and plug-ins that it was made with, and the version of this compiler.

    ``images`` says how it prepares images, if it does.

    Files are named without their folders, and options that do not change the result are left out, so that equal input
    and options give equal bytes.
    """
    words = ["ge-compiler", *(f"--load-plugin={Path(path).name}" for path in plugins)]
    for option in options:
        if option.name in values and option.in_file:
            words.append(f"--{option.name}" + (f"={_plain(option, values[option.name])}" if option.value else ""))
    for op in module.ops:
        if isinstance(op, ModelOp):
            op.attributes[COMMAND_LINE] = StringAttr(" ".join(words))
            if images:
                op.attributes[AIPP] = StringAttr(images)
            op.attributes[COMPILER_VERSION] = StringAttr(ge.__version__)


def _plain(option: Option, value: str) -> str:
    """The value of an option, without the folders of files."""
    if not option.value.startswith("FILE"):
        return value
    return ",".join(Path(name).name for name in value.split(","))
