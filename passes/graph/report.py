"""What passes report: see :mod:`ge.ir.rewrite_log`, where it is collected."""

from __future__ import annotations

from ge.ir.rewrite_log import Fusion, Miss, fused, logger, missed, observe

__all__ = ["Fusion", "Miss", "collect", "fused", "logger", "missed"]

collect = observe
