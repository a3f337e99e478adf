#!/usr/bin/env python3
"""Bad values of every option of every command, and bad files as arguments: each is refused with one line on
standard error that begins with the program's name, names the option or the file, and has no control
character. The exit status is 2, no file is written, and the database keeps its contents. The options are
those that the help lists. TAP; Python's own library alone."""
import concurrent.futures
import hashlib
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, program  # noqa: E402

SECONDS = 20
SHARED_TRIES = 4  # commands for each bad value of an option that more commands have
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")
ROW = re.compile(r"^  (?:-(\w), |    )--([a-z-]+)(\[=[A-Z]+\]| [A-Z0-9a-z][^ ]*)?(?:  .*)?$")

# What stands for the words of a usage line; those in brackets are left out.
WORDS_OF_USAGE = {"MODEL": "model.onnx", "LAYER": "1", "FILE": "results.jsonl", "OTHER.db": "other.db"}
# Commands that are given more than that besides the option under test; "model.onnx" is measured.
ARGUMENTS = {
    "explorer": ["--frame", "80x24", "model.onnx"], "compare": ["model.onnx", "--latency", "5ms"],
    "diff": ["model.onnx", "--with", "-w fusion"], "scenarios": ["model.onnx"], "db export": ["model.onnx"],
}

# No option takes any of these, except those of TAKES.
WORDS = [" ", ",", "x,,y", "1,", "nothing-is-called-this", "-1", "-", "=", "x=", "=x", "0x", "1e999", "nan",
         "99999999999999999999", "fusion;", "\x1b[31mred\x1b[0m", "a\nb", b"\xff\xfe", "\u202egnp", "%s%n"]
BAD = ["", "x" * 5000, "dir", "pipe", "loop", "dir/none/none"] + WORDS
TAKES = {
    "keys": ["", " ", "-", ",", "=", "a\nb"],  # no key, and keys that there are
    "agent-option": ["x="],                    # an option without a value
    "device": [",", "1,"],                     # part of the stack "words 1, 1 thread"
    "db": WORDS + ["dir/none/none"],           # a database that does not exist yet
    "output": WORDS + ["pipe"],                # any name of a file, and a pipe that somebody may read
    "trace": WORDS + ["pipe"],
}
# A name that no device has is the exit status 3, but for these, which are no names.
BLANK = ["", " ", "x" * 5000]
# What an error may name instead of the option: the model, or a configuration that can be opened.
NAMED = {"dim": ["model.onnx"], "config": ["dir", "pipe", "model.onnx", "bad.yaml", "list.yaml"]}
# What is nearly right, by option.
MORE = {
    "batch": ["0", "65537", "1,2,1", "1,1", ",".join(map(str, range(1, 200))), "1 2", "1;2", "+1", "1.5"],
    "dtype": ["f32,", "f32,f32", "uint8", "F32 f16", "f32;f16"],
    "dim": ["batch=x", "batch=", "batch=0", "batch=-1", "batch=99999999999", "nosuch=2"],
    "input": ["x=0", "x=1x", "x=" + "x".join(map(str, range(1, 14))), "x=99999999999999999999", "x=-1", "x=1",
              "nosuch=1x2"],
    "value": ["x=", "x=a", "x=1,", "x=1e999", "x=nan", "nosuch=3"],
    "what-if": ["fusion=", "fusion=maybe", "fusion,fusion=off", "fusion,fusion", "fusion,", ",fusion", "=off",
                "fusion=on=off"],
    "assume": ["1=", "1=x", "1=-2x", "1=0x", "1=1e999us", "nosuch=2x", "999=2x", "1=2", "1=nan", "1=infx"],
    "threads": ["4097", "1.5", "2,"],
    "budget": ["0", "600001", "1.5", "5ms"],
    "budget-ms": ["0", "600001"],
    "frame": ["9999x9999", "0x0", "80", "80x", "x24", "80x24x2", "-80x24", "80.5x24"],
    "view": ["Layers", "layers,"],
    "theme": ["pink", "dark,nosuch=3", "dark,", "dark,warning=900"],
    "target": ["0", "5", "-5ms", "5ms,", "5 parsecs", "0ms", "0/s", "infms"],
    "latency": ["0", "5", "-5ms", "0ms", "nanms", "41.2msms"],
    "within": ["0", "-5%", "101", "5%%", "1e9"],
    "threshold": ["-5%", "5%%", "5,"],
    "caches": ["warm,", "warm,hot", "warm,warm"],
    "launches": ["amortized,", "never", "isolated,isolated"],
    "algorithms": ["best", "all,", "ALL"],
    "agents": ["nosuch", "ort,", ",ort"],
    "run": ["nosuch", "ort,", ",ort"],
    "try": ["nosuch", "level,", ",level"],
    "requests": ["0", "1025", "+1", "1.5", "2,", "01", "0x2"],
    "agent-option": ["KEY", "a b=1", "a=\x1b[31m", "a=\n", b"a=\xff", "\u00e9=1", "a=" + "x" * 5000],
    "analysis": ["A99", "A2,", ",A2", "b9"],
    "over": ["batch", "nosuch=1,2", "batch=", "batch=1,", "x=1;y"],
    "with": ["--nosuch", "model.onnx", "-b", "'", "-b 0", "-w fusion,fusion=off"],
    "as": ["json", "GOOGLE"],
    "delete": ["nosuch"],
    "rename": ["a", "a=", "=b", "nosuch=b", "a=b=c"],
    "completion": ["csh", "bash,"],
    "config": ["model.onnx", "bad.yaml", "list.yaml", "/dev/null/x"],
    "db": ["model.onnx", "/dev/null/x", "/dev/full"],
    "output": ["/dev/null/x"],
    "trace": ["/dev/null/x"],
}
# Given with the option under test, which has no effect otherwise; in place of the command's arguments.
NEEDS = {"launches": ["--emit-jobs"], "delete": ["--yes"]}
WITHOUT = {"delete": [], "rename": [], "run": ["model.onnx"], "try": ["--run", "ort", "model.onnx"],
           "requests": ["model.onnx"], "agent-option": ["model.onnx"]}
# Options that every command takes and few use: those commands.
USED = {"device": ["bench", "bound", "report", "advise", "compare", "models", "sweep", "diff", "repro"],
        "db": ["bench", "bound", "report", "advise", "compare", "models", "sweep", "diff", "db info",
               "db check", "db import", "db export"]}

# Files as arguments, where the usage line does not say them: the words with a good one, and the place of the
# bad one in the line.
FILES = {
    "explorer": (["model.onnx", "--frame", "80x24"], 0), "compare": (["model.onnx", "trace.json"], 2),
    "models": (["model.onnx", "model.onnx"], 2), "diff": (["model.onnx", "model.onnx"], 2),
    "scenarios": (["model.onnx"], 1), "db export": None, "help": None,
}
BAD_FILES = ["", " ", "none.onnx", "dir", "loop", "dir/none/none", "/dev/null/x", "/dev/null", "bad.yaml",
             "\x1b[31mred\x1b[0m", "a\nb", b"\xff\xfe", "\u202egnp", "x" * 5000]


def help_of(*words):
    return subprocess.run([program(), *words], capture_output=True, text=True, check=True).stdout.splitlines()


def commands_listed():
    """All commands but "db", which is none."""
    listed = [re.match(r"  benanza ([a-z]+)", line) for line in help_of("--help")]
    listed += [re.match(r"  benanza (db [a-z]+) ", line) for line in help_of("db", "--help")]
    return ["explorer"] + [m[1] for m in listed if m and m[1] != "db"]


def arguments_of(command):
    """The words of its usage line."""
    usage = next(line for line in help_of("help", *command.split()) if line.startswith("usage: "))
    words = [] if command == "explorer" else usage.split("[OPTIONS]")[1].split()
    return [WORDS_OF_USAGE[word.removesuffix("...")] for word in words if not word.startswith("[")]


def options_in(lines):
    """(letter or None, name, its value may be left out) of each option with a value."""
    rows = [ROW.match(line) for line in lines]
    return [(row[1], row[2], row[3].startswith("[")) for row in rows if row and row[3]]


class Place:
    """A folder with a measured model, a database, and what is no file."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        homes = {f"XDG_{kind}_HOME": f"{folder}/home" for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BENANZA_")}
        self.environment = kept | homes | {"HOME": f"{folder}/home", "TERM": "xterm",
                                           "BENANZA_CONFIG": f"{folder}/config.yaml"}
        (self.folder / "home").mkdir()
        (self.folder / "dir").mkdir()
        runner = ROOT / "tests/lib/word_runner.sh"
        (self.folder / "config.yaml").write_text(
            f'db: {folder}/results.db\nscenarios: {{today: [fusion]}}\nagents: {{ort: [/no/agent]}}\n'
            f'runners:\n  cpu: [sh, "{runner}", "Word 1", "words 1, 1 thread", 1]\n')
        (self.folder / "bad.yaml").write_text("batch: [1, \x1b\n")
        (self.folder / "list.yaml").write_text("- 1\n")
        shutil.copy(ROOT / "tests/models/tiny.onnx", self.folder / "model.onnx")
        os.mkfifo(self.folder / "pipe")
        os.symlink("loop", self.folder / "loop")
        self.run("bench", "-q", "model.onnx")
        self.run("bench", "-q", "--db", "other.db", "model.onnx")
        (self.folder / "results.jsonl").write_bytes(self.run("db", "export").stdout)
        self.before = self.contents()

    def run(self, *words):
        return subprocess.run([program(), *words], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)

    def contents(self):
        """What every file holds; what SQLite and the runner's start leave beside them does not count."""
        return {str(path.relative_to(self.folder)): hashlib.sha1(path.read_bytes()).hexdigest()
                for path in sorted(self.folder.rglob("*"))
                if path.is_file() and not path.name.endswith(("-wal", "-shm", "-lock"))}

    def refused(self, words, names, status=2):
        """What is wrong with how these words are refused; a text of `names` must be in the error."""
        shown = " ".join(repr(word[:60]) for word in words)
        try:
            done = self.run(*words)
        except subprocess.TimeoutExpired:
            return [f"benanza {shown}: no end within {SECONDS} s"]
        text = done.stderr.decode(errors="surrogateescape")
        output = done.stdout.decode(errors="replace")
        wrong = [f"exit status {done.returncode}"] * (done.returncode != status)
        wrong += [f"{text.count(chr(10))} lines"] * (text.count("\n") != 1)
        wrong += ["does not begin with benanza"] * (not text.startswith("benanza: "))
        wrong += ["control characters"] * bool(HARMFUL.search(text) or HARMFUL.search(output))
        wrong += ["no UTF-8"] * any("\udc80" <= c <= "\udcff" for c in text)
        wrong += ["output"] * bool(output)
        wrong += [f"names none of {names}"] * (not any(name in text for name in names))
        return [f"benanza {shown}: {', '.join(wrong)}: {text[:300]!r}"] if wrong else []


def option_cases(commands, shared):
    """(name, letter, command, value): of a command's own options every value, of shared ones every value for
    some commands in turn."""
    turn = itertools.count()
    for name, (letter, having) in shared.items():
        for value in values_of(name):
            for _ in range(SHARED_TRIES):
                yield name, letter, having[next(turn) % len(having)], value
    for command, own in commands.items():
        for letter, name, may_lack in own:
            if name not in shared:
                values = [value for value in values_of(name) if value or not may_lack]
                yield from ((name, letter, command, value) for value in values)


def values_of(name):
    return [value for value in BAD + MORE.get(name, []) if value not in TAKES.get(name, ())]


def line_of(arguments, name, letter, command, value, short):
    """The words after the program's name; short: -x VALUE, else --name=VALUE."""
    words = [] if command == "explorer" else command.split()
    value = os.fsencode(value) if isinstance(value, str) else value
    given = [f"-{letter}".encode(), value] if letter and short else [f"--{name}=".encode() + value]
    return [*words, *NEEDS.get(name, []), *WITHOUT.get(name, arguments[command]), *given]


def options_refused(place, pool, tap, commands, shared, arguments):
    turn = itertools.count()
    tried = {}
    for name, letter, command, value in option_cases(commands, shared):
        names = [f"--{name}"] + [f"-{letter} "] * bool(letter)
        names += [file for file in NAMED.get(name, ()) if file == value or name != "config"]
        status = 3 if name == "device" and value not in BLANK else 2
        words = line_of(arguments, name, letter, command, value, next(turn) % 2)
        tried.setdefault(name, []).append(pool.submit(place.refused, words, names, status))
    for name, tries in tried.items():
        tap.result(f"--{name}: {len(tries)} bad values", [line for one in tries for line in one.result()])


def files_refused(place, pool, tap, arguments):
    """In place of each file that is an argument."""
    for command, words in arguments.items():
        tries = []
        words, at = FILES.get(command, (words, len(command.split()))) or ([], 0)
        if not words:
            continue
        for name in BAD_FILES:
            line = [*command.split()] * (command != "explorer") + [*words]
            line[at] = name
            shown = name if isinstance(name, str) else "??"
            clean = re.sub("[\x00-\x1f\u202e]", "?", shown)[:40] or "no such file"
            tries.append(pool.submit(place.refused, line, [clean]))
        tap.result(f"{command}: {len(tries)} bad files", [line for one in tries for line in one.result()])


def main():
    tap = Tap()
    everywhere = options_in(help_of("--help"))
    commands = {command: options_in(help_of("help", *command.split())) for command in commands_listed()}
    arguments = {command: ARGUMENTS.get(command) or arguments_of(command) for command in commands}
    having = {}
    for command in commands:
        for letter, name, _ in everywhere + commands[command]:
            having.setdefault((letter, name), {})[command] = None
    shared = {name: (letter, [one for one in of if one in USED.get(name, of)])
              for (letter, name), of in having.items() if len(of) > SHARED_TRIES}
    with tempfile.TemporaryDirectory(prefix="benanza-refused-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        place = Place(folder)
        options_refused(place, pool, tap, commands, shared, arguments)
        files_refused(place, pool, tap, arguments)
        after = place.contents()
        tap.result("no file is written or changed",
                   sorted(name for name, _ in place.before.items() ^ after.items()))
    return tap.end()


sys.exit(main())
