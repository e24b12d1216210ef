"""What the three targets have in common: seed files, and how a case is made of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random

from bench.fuzz.sandbox import Progress


@dataclass(frozen=True)
class SeedFile:
    """A valid file that cases are made from."""

    name: str
    data: bytes
    family: str
    """A family is chosen first, then a file of it, so that no large family crowds out the others."""


@dataclass(frozen=True)
class Case:
    """A damaged file."""

    seed_file: SeedFile
    data: bytes
    steps: int
    """How many mutations it was made by."""


class Target(ABC):
    """A type of file, and what is done with files of this type."""

    name: str
    max_bytes: int = 1 << 20
    """A case that is larger is not changed any further."""
    companions: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Files that lie next to every case."""

    @abstractmethod
    def seed_files(self) -> list[SeedFile]:
        """Read or compile the seed files; always the same."""

    @abstractmethod
    def mutate(self, data: bytes, random: Random) -> bytes:
        """Change a file."""

    @abstractmethod
    def run(self, path: Path, progress: Progress) -> str:
        """Do with a file what users do; the verdict PASSED, or an exception."""

    def without_parts(self, data: bytes) -> list[bytes]:
        """Smaller files for the search of a small failing case; `data` without one of its parts each."""
        return []

    @cached_property
    def families(self) -> dict[str, list[SeedFile]]:
        """The seed files by family."""
        families: dict[str, list[SeedFile]] = {}
        for file in self.seed_files():
            families.setdefault(file.family, []).append(file)
        return families

    def choose(self, random: Random) -> SeedFile:
        """A seed file."""
        return random.choice(self.families[random.choice(list(self.families))])

    def case(self, seed: int, number: int, steps: Collection[int] | None = None) -> Case:
        """The case of a number; `steps` leaves out mutations."""
        random = Random(f"{self.name}/{seed}/{number}")
        file = self.choose(random)
        keys = [random.getrandbits(64) for _ in range(random.choice((1, 1, 1, 1, 2, 2, 3, 5)))]
        data = file.data
        for step, key in enumerate(keys):
            if (steps is None or step in steps) and len(data) <= self.max_bytes:
                data = self.mutate(data, Random(key))
        return Case(file, data, len(keys))
