"""Which part of the work is whose."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Share"]


@dataclass(frozen=True, slots=True)
class Share:
    """Worker `number` of `workers`, which are counted from 0; stretches go round by their number."""

    number: int = 0
    workers: int = 1

    def owns(self, stretch: int) -> bool:
        """Whether a stretch is this worker's."""
        return stretch % self.workers == self.number
