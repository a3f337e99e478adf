#!/usr/bin/env python3
"""What benanza itself costs while it measures: how often it wakes, and its share of a core. Both disturb what is measured.

    tests/bench/bench_quiet.py [--benanza PATH] [--seconds 15] [MODEL]

The explorer and `bench` run on a terminal of their own, from an empty database. Aimed at: 4 wakeups a second, 0.2% of a core.
"""

import argparse
import os
import pathlib
import pty
import re
import signal
import sys
import tempfile
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def seen(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(stat[11]) + int(stat[12])
    return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", status).group(1)), ticks / os.sysconf("SC_CLK_TCK")


def watch(name, argv, keys, seconds):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(argv[0], argv)
    threading.Thread(target=drain, args=(fd,), daemon=True).start()
    time.sleep(3)
    if keys:
        os.write(fd, keys)
        time.sleep(3)
    before = seen(pid)
    time.sleep(seconds)
    after = seen(pid)
    print(f"{name:24} {(after[0] - before[0]) / seconds:5.1f} wakeups a second, "
          f"{100 * (after[1] - before[1]) / seconds:5.2f}% of a core")
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default=str(TOP / "data/models/resnet50.onnx"))
    parser.add_argument("--benanza", default=str(TOP / "build/benanza"))
    parser.add_argument("--seconds", type=float, default=15)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        watch("bench", [o.benanza, "bench", "--db", folder + "/bench.db", o.model], b"", o.seconds)
        watch("explorer, measuring", [o.benanza, "--db", folder + "/explorer.db", o.model], b"b", o.seconds)
        watch("explorer, idle", [o.benanza, "--db", folder + "/idle.db", o.model], b"", o.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
