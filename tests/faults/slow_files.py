#!/usr/bin/env python3
"""Files that take long to read if something is quadratic: the CPU time of each is bounded by its size, so
that other work does not matter. Ctrl-C ends the reading at once. TAP."""

import gzip
import json
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, TIME_LIMIT_S, Tap, program  # noqa: E402

MODEL = ROOT / "tests" / "models" / "tiny.onnx"
FREE_S, S_PER_MB = 0.5, 1.5  # linear reading takes less than a tenth of that, with sanitizers too
TABLES = """CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, "end" INT, globalPid INT, correlationId INT, streamId INT,
    shortName INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, "end" INT, globalTid INT, correlationId INT, nameId INT);
CREATE TABLE NVTX_EVENTS(start INT, "end" INT, globalTid INT, text TEXT, eventType INT);
INSERT INTO StringIds VALUES (1, 'k');"""
COMPUTED = """, globalPid INT GENERATED ALWAYS AS
    (instr(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')) VIRTUAL)"""


def database(path, sql, **rows):
    with sqlite3.connect(path) as file:
        file.executescript(sql.replace(" end INT", ' "end" INT'))
        for table, values in rows.items():
            file.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    file.close()


def one_id(path, n=30000):
    """Calls of another process have the correlation id of all kernels."""
    database(path, TABLES,
             CUPTI_ACTIVITY_KIND_KERNEL=[(i * 10, i * 10 + 5, 2 << 24, 7, 1, 1) for i in range(n)],
             CUPTI_ACTIVITY_KIND_RUNTIME=[(i * 10, i * 10 + 5, 1 << 24, 7, 1) for i in range(n)])


def nested(path, n=15000):
    at = 10 * n
    database(path, TABLES,
             NVTX_EVENTS=[(i, 100 * n - i, 1 << 24, f"r{i}", 59) for i in range(n)],
             CUPTI_ACTIVITY_KIND_KERNEL=[(at + i * 10, at + i * 10 + 5, 1 << 24, i, 1, 1) for i in range(n)],
             CUPTI_ACTIVITY_KIND_RUNTIME=[(at + i * 10, at + i * 10 + 5, 1 << 24, i, 1) for i in range(n)])


def computed(path):
    """The column is added to the schema alone, as an INSERT would compute it."""
    table = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, shortName INT"
    database(path, f"{table});CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
             "INSERT INTO StringIds VALUES (1, 'k');", CUPTI_ACTIVITY_KIND_KERNEL=[(1, 2, 1)])
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA writable_schema = ON")
        sql = (table + COMPUTED).replace(" end INT", ' "end" INT')
        file.execute("UPDATE sqlite_master SET sql = ? WHERE name LIKE 'CUPTI%'", (sql,))
    file.close()


def endings(path, ending=":0", n=160000):
    name = "a" + ending * (n // len(ending))
    path.write_text(json.dumps([{"count": 9}, {"name": name, "timeMs": 9, "averageMs": 1}]))


def brackets(path):
    endings(path, "PWN(")


def separators(path):
    endings(path, " + a")


def foreign(path):
    endings(path, "{ForeignNode[...")


def no_runs(path, n=10000):
    order = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(n):
            file.write("onednn_verbose,exec,cpu,convolution,jit:avx2,forward_inference,"
                       "src_f32::blocked:abcd:f0 wei_f32::blocked:Acdb8a:f0 dst_f32::blocked:abcd:f0,,"
                       "alg:convolution_direct,"
                       f"mb1_ic{order.randrange(500)}oc64,0.1\n")


SLOW = {"one correlation id": one_id, "nested ranges": nested, "a computed column": computed,
        "endings of a name": endings, "brackets in a name": brackets, "parts of a name": separators,
        "ForeignNodes in a name": foreign, "calls without runs": no_runs}


def words(folder, path, *more):
    return [program(), "compare", str(MODEL), str(path), "--db", str(folder / "none.db"), *more]


def cpu_s(line):
    """(CPU time, exit status) of the program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIME_LIMIT_S,
                          check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode


def check_slow(folder, name, make):
    path = folder / name.replace(" ", "_")
    make(path)
    most, wrong = FREE_S + S_PER_MB * path.stat().st_size / 1e6, []
    for more in ((), ("--tree",)):
        took, status = cpu_s(words(folder, path, *more))
        if took > most or status not in (0, 1, 2):
            wrong.append(f"{took:.1f} s of CPU time, at most {most:.1f}; status {status} {more}")
    return wrong


def check_blanks(folder):
    with gzip.open(folder / "packed.gz", "wb", 9) as file:
        file.write(b'[{"cat":"Session","pid":1,"dur":1,"ts":1,"ph":"X","name":"model_run","args":{}},')
        for _ in range(300):
            file.write(b" " * (1 << 20))
    done = subprocess.run(words(folder, folder / "packed.gz"), capture_output=True, text=True,
                          timeout=TIME_LIMIT_S, check=False)
    good = done.returncode == 2 and "unpacks to more than" in done.stderr and done.stderr.count("\n") == 1
    return [] if good else [f"{done.returncode}: {done.stderr}"]


def check_interrupt(folder):
    """The first Ctrl-C, while the file is read."""
    path = folder / "endless.log"
    no_runs(path, 400000)
    process = subprocess.Popen(words(folder, path, "--trace", str(folder / "trace.json")),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wrong = []
    time.sleep(0.5)
    if process.poll() is not None:
        wrong.append("it had ended")
    before = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(TIME_LIMIT_S)
    took = time.monotonic() - before
    if process.returncode != -signal.SIGINT or took > 5:  # 0.2 s on a machine without other work
        wrong.append(f"status {process.returncode} after {took:.1f} s")
    return wrong + [str(left) for left in folder.glob("trace.json*")]


def main():
    program()
    with tempfile.TemporaryDirectory() as folder:
        folder, tap = pathlib.Path(folder), Tap(len(SLOW) + 2)
        for name, make in SLOW.items():
            tap.result(name, check_slow(folder, name, make))
        tap.result("blanks in a packed file", check_blanks(folder))
        tap.result("Ctrl-C", check_interrupt(folder))
        return tap.end()


if __name__ == "__main__":
    sys.exit(main())
