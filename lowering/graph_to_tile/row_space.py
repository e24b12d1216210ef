"""Tensors that kernels go along in whole rows: what `plain_rows` and `fractal_rows` have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.ir import SSAValue

from ge.dialects.tile.text import Index
from ge.dialects.tile.types import gm_type
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.spaces import HARMLESS, Space
from ge.maths.layouts import ceil_div


class RowSpace(Space):
    """A tensor seen as images of rows, cut into tiles of whole rows."""

    images: int
    rows: int
    """Rows of an image."""
    together: int
    """Rows of a tile; beyond the last one of an image are others, which do not matter."""
    elements: int
    """Elements of a tile."""

    @contextmanager
    def places(self, b: KernelBuilder, stages: int) -> Generator[tuple[Index, Index]]:
        """The loop over the tiles of a core: the number of the image, and the first row."""
        parts = ceil_div(self.rows, self.together)
        with b.deal(self.images * parts, stages) as number:
            image, part = b.split(number, self.images, parts)
            yield image, b.times(part, self.together)

    def matrix(self, b: KernelBuilder, source: SSAValue, image: Index) -> Index:
        """The number of the image in an operand, of which there may be fewer matrices, over and over."""
        count = gm_type(source).sizes[0]
        return image if count == self.images else b.modulo(image, count)

    @abstractmethod
    def load_rows(
        self, b: KernelBuilder, source: SSAValue, place: Sequence[Index], beyond: float = HARMLESS
    ) -> SSAValue:
        """The part of a tensor at a place; what is `beyond` the tensor reads as a number."""

    @abstractmethod
    def load_vector(self, b: KernelBuilder, source: SSAValue, beyond: float = HARMLESS) -> SSAValue:
        """A vector along the rows, as a tile that spreads over those of the tensor."""

    @abstractmethod
    def columns(self, b: KernelBuilder, tile: SSAValue) -> SSAValue:
        """The float32 numbers of a tile of several rows, every row a column."""

    @abstractmethod
    def tile(self, b: KernelBuilder, columns: SSAValue) -> SSAValue:
        """The tile of float16 columns: the way back."""
