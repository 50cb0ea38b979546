"""``python -m mbgrad``: the program."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Replace the interpreter by the program."""
    from ._gallery import data_folder

    program = data_folder() / "bin" / "mbgrad"
    if not program.exists():
        sys.exit(f"mbgrad: the program is missing: {program}; install the package again")
    os.execv(program, ["mbgrad", *sys.argv[1:]])


if __name__ == "__main__":
    main()
