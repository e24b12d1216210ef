"""Graph Engine: an open, hackable compiler from ONNX to Ascend.

``from ge import Runtime`` loads and runs ``.om`` models, ``register_operator`` adds an operator of your own (see
:mod:`ge.custom`). The rest of the package is organised by level: ``ge.dialects`` define, ``ge.passes`` rewrite within a
level, ``ge.lowering`` goes down one level, ``ge.targets`` meet the outside world and ``ge.tools`` are the commands.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ge.custom import register_operator
    from ge.targets.ascend.runtime import Runtime

__version__ = "0.1.0"

__all__ = ["Runtime", "__version__", "register_operator"]


def __getattr__(name: str) -> object:
    """Import what is asked for on first use, so that ``import ge`` stays instant."""
    if name == "Runtime":
        from ge.targets.ascend.runtime import Runtime

        return Runtime
    if name == "register_operator":
        from ge.custom import register_operator

        return register_operator
    raise AttributeError(f"module 'ge' has no attribute '{name}'")
