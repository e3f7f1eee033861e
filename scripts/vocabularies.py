"""Write the files of jupyter_ctx/models/vocabularies: ``python -m scripts.vocabularies o200k_base.tiktoken …``.

The arguments are vocabularies as tiktoken downloads them: a token in base64 and its rank on each line.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

from jupyter_ctx.models.tokenizer import FOLDER


def packed(ranks: dict[bytes, int]) -> bytes:
    """Return a vocabulary as jupyter_ctx.models.tokenizer reads it."""
    tokens = sorted(ranks)
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    numbers = (len(tokens), *starts, *(ranks[token] for token in tokens))
    return b"".join(number.to_bytes(4, "little") for number in numbers) + b"".join(tokens)


def main() -> None:
    """Write one file for each argument."""
    for path in map(Path, sys.argv[1:]):
        lines = (line.split() for line in path.read_bytes().splitlines())
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        (FOLDER / f"{path.stem}.ranks").write_bytes(packed(ranks))


if __name__ == "__main__":
    main()
