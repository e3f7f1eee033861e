"""Images small enough to write down."""

from __future__ import annotations

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000400000003000802000000"  # a PNG's head: 1,024 × 768
) + bytes(40)
