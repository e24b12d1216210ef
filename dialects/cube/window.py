"""Convolution windows: which input rows and which outputs a range of im2col rows stands for. Pure arithmetic."""

from __future__ import annotations

from typing import NamedTuple


class Window(NamedTuple):
    """A convolution window over a padded plane; the fields are those of `cube.load3d`."""

    height: int
    width: int
    stride_h: int
    stride_w: int
    kernel_h: int
    kernel_w: int
    dilation_h: int
    dilation_w: int
    pad_top: int
    pad_bottom: int
    pad_left: int
    pad_right: int

    @property
    def output_height(self) -> int:
        """Rows of the output plane."""
        reach = (self.kernel_h - 1) * self.dilation_h + 1
        return (self.height + self.pad_top + self.pad_bottom - reach) // self.stride_h + 1

    @property
    def output_width(self) -> int:
        """Columns of the output plane."""
        reach = (self.kernel_w - 1) * self.dilation_w + 1
        return (self.width + self.pad_left + self.pad_right - reach) // self.stride_w + 1

    @property
    def positions(self) -> int:
        """Positions of the output plane."""
        return self.output_height * self.output_width

    def output_rows_of(self, m_start: int, m_extent: int) -> int:
        """How many output rows the positions [m_start, m_start + m_extent) touch."""
        return (m_start + m_extent - 1) // self.output_width - m_start // self.output_width + 1

    def input_rows(self, m_start: int, m_extent: int) -> tuple[int, int]:
        """The input rows [first, last) that positions [m_start, m_start + m_extent) read; padding is not counted."""
        stop = min(m_start + m_extent, self.positions)
        if m_start >= stop:
            return 0, 0
        top = m_start // self.output_width * self.stride_h - self.pad_top
        bottom = (stop - 1) // self.output_width * self.stride_h - self.pad_top
        bottom += (self.kernel_h - 1) * self.dilation_h
        return max(top, 0), min(bottom + 1, self.height)
