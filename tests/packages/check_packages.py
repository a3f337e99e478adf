#!/usr/bin/env python3
"""Compares installed Python packages with a requirements file; exit status 1 and a line for each that differs.

    tests/packages/check_packages.py tests/packages/requirements.txt [DIRECTORY]      DIRECTORY: of pip install --target
"""

import importlib.metadata
import re
import sys


def pinned(path):
    """name -> version. Every requirement must be exact."""
    found = {}
    for line in open(path, encoding="utf-8"):
        line = line.partition("#")[0].strip()
        if line:
            name, exact, version = line.partition("==")
            if not exact:
                sys.exit(f"{path}: {line} is not an exact version; write NAME==VERSION")
            found[plain(name)] = version
    return found


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def main():
    wanted, folders = pinned(sys.argv[1]), sys.argv[2:] or None
    where = {"path": folders} if folders else {}
    have = {plain(d.metadata["Name"]): d.version for d in importlib.metadata.distributions(**where)}
    wrong = [f"{name} is {have.get(name, 'not installed')}, not {version}"
             for name, version in wanted.items() if have.get(name) != version]
    print("".join(f"{line}\n" for line in wrong), end="")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
