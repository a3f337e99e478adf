#!/usr/bin/env python3
"""Every room and box has tests, and every script is in a row scripts_of_ROOM of tests/local.mk, as TAP."""

import pathlib
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "lib"), str(TOP / "tools")]
import check_rooms  # noqa: E402
import mutate  # noqa: E402
from python_tap import Tap  # noqa: E402


def main():
    tap, (scripts, rows) = Tap(), mutate.script_rows()
    rooms = [*check_rooms.ROOMS, "runner"]
    places = [*rooms, *mutate.boxes("ui"), *mutate.boxes("runner")]
    tap.result("tools/mutate.py has the rooms of check_rooms.py",
               set(rooms) ^ set(mutate.ROOMS))
    tap.result("every room and box has tests",
               [place for place in places if not mutate.unit_tests_of(place) + mutate.scripts_of(place)])
    tap.result("every row is that of a room or box with scripts",
               [row for row in rows if not rows[row]
                or row not in {"none", "agents", *(place.replace("/", "_") for place in places)}])
    tap.result("every room has a row", set(rooms) - set(rows))
    known = {script for row in rows.values() for script in row}
    tap.result("every script is in a row, if only in scripts_of_none", sorted(set(scripts) - known))
    tap.result("no script of scripts_of_none is in another row",
               [s for s in rows["none"] if any(s in rows[r] for r in rows if r != "none")])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
