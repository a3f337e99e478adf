#!/usr/bin/env python3
"""Random keys in the explorer: sequences, commands, texts, pastes, the mouse and sizes from 1x1 to 300x100,
in all views and the tour, on bundled and hostile models, with runners that measure, that misbehave and that
are not there. ^Z stops it, and it is continued. A run ends with a key, a signal or a terminal that is gone.

It must never end by itself, hang, or grow. By hand, for longer, usually with a program that was built with
--enable-asan --enable-ubsan (its reports end the run):

    monkey.py [--seconds N] [--seed N] [--steady] [--model FILE]

--steady does not leave the program, and looks at its memory every ten seconds: after the first minute, the
most of the second half may not exceed the most of the first half. The seed is printed; MONKEY_SEED and
MONKEY_SECONDS set both in the suite.
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import job_control  # noqa: E402
import python_tap  # noqa: E402

INTERRUPTED = (130, -2)  # by ^C: in the program, and before it was ready
ENDINGS = {"key": (0,), "terminate": (143, -15), "hang up": (129, -1)}
KEPT_KEYS = 20000     # bytes that were typed last, for the report
SETTLED_S = 60        # memory is looked at from then on,
SAMPLE_S = 10         # so often
GROWTH_KIB = 16 * 1024
MODELS = sorted(path for folder in ("data/models", "tests/models")
                for path in (python_tap.ROOT / folder).glob("*.onnx"))
HOSTILE = python_tap.BUILD / "tests/unit/fake_runner"  # crashes, hangs, lies

NAMED = [b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[H", b"\x1b[F", b"\x1b[5~", b"\x1b[6~",
         b"\x1b[3~", b"\x1b[Z", b"\x1bOP", b"\x1bOQ", b"\x1bOR", b"\x1bOS", b"\x1b[15~", b"\x1b[17~",
         b"\x1b[21~", b"\x1b", b"\r", b"\t", b"\x7f", b"\x1b[<0;10;10M", b"\x1b[200~", b"\x1b[201~",
         b"\x1b[I", b"\x1b[O", b"\x1b[99;99;99~", b"\x1b\x1b", b"\x1b[", b"\x1bO"]
SIZES = [(1, 1), (2, 2), (39, 9), (40, 10), (41, 11), (80, 24), (80, 15), (81, 16), (100, 30), (120, 40),
         (200, 60), (300, 100), (300, 10), (40, 100)]
WORDS = ["conv", "cost>1ms", "cost<0", "state:noisy", "op=Conv", "-relu", "is:critical", "share>1%", "x>>",
         "\u5c42", "e\u0301", "\ud7ff", "0", "1", "8", "64", "-1", "99999999999999999999", "2x", "12us",
         "0x", "1e309", "nan", "%s%n", "\"", "'", "=", ">", "f32", "bf16", "f16", "u8", "fusion",
         "fusion=all,parallel", "matrix=off", "telepathy", "layers", "help", "h100", "l40s", "cpu",
         "dark,warning=208 bold", "light", "mono", "ansi,bad=#ff0000", "on", "off", "queue", "reality",
         "7", "5ms",
         "out.txt", "out.csv", "out.json", "out.svg", "out.dot", "out.html", "nowhere/out.txt", "batch=4",
         "batch=0", "sequence=7", "a=b=c", "cost", "name", "100", "3", "name with blanks", "a" * 300]
COMMANDS = ["view", "set", "device", "batch", "dtype", "dim", "filter", "search", "sort", "reverse",
            "layer", "write", "write!", "copy", "measure", "again", "stop", "run", "help", "fusion",
            "parallel", "matrix", "layout", "assume", "fold", "open", "edit", "theme", "mouse", "beside",
            "bogus", "5", "0", "%"]
TOUR = "tour"  # instead of a model


class Typist:
    """What is typed next, by chance; `leaves`: also what leaves the program."""

    def __init__(self, rng, leaves):
        self.rng, self.leaves = rng, leaves
        self.keys = [bytes([c]) for c in (*range(1, 27), *range(29, 127))]
        if not leaves:
            gone = (b"q", b"Q", b"\x03", b"\x1b[21~")
            self.keys = [k for k in self.keys if k not in gone]
        self.kinds = [(30, self.key), (15, self.named), (15, self.view), (10, self.pair), (8, self.count),
                      (8, self.toggles), (6, self.command), (5, self.text), (4, self.form),
                      (4, self.measuring), (2, self.paste), (2, self.escape), (2, self.device),
                      (3, self.mouse), (2, self.scenario), (2, self.theme), (2, self.stop),
                      (1, self.model)]

    def next(self):
        kind, = self.rng.choices([k for _, k in self.kinds], [w for w, _ in self.kinds])
        typed = kind()
        if not self.leaves:  # q leaves where the screen is too small
            typed = typed.replace(b"\x1b[21~", b"").translate(None, b"qQ\x03")
        return typed

    def one(self, letters):
        return self.rng.choice(letters).encode()

    def key(self):
        return self.rng.choice(self.keys)

    def named(self):
        return self.rng.choice(NAMED)

    def view(self):
        if self.rng.random() < 0.1:
            return b":view " + b"\t" * self.rng.randrange(1, 22) + b"\r"
        return self.one("1234567890?ADO") if self.rng.random() < 0.4 else b"g" + self.one("mnrtdsyawielqhox")

    def pair(self):
        return self.one("gz[]\"'") + self.one("abcdefghijklmnopqrstuvwxyzMRAOC")

    def count(self):
        most = self.rng.choice([10, 200, 10**7])
        return str(self.rng.randrange(most)).encode() + self.one("jkgGnNV>< lh+-")

    def toggles(self):
        return b"".join(self.one("pfmalotro") for _ in range(self.rng.randrange(1, 5)))

    def letters(self):
        if self.rng.random() < 0.7:
            return self.rng.choice(WORDS).encode("utf-8", "surrogatepass")
        some = b"abcxyz019 .:=<>&-,*\xe5\xb1\x82\xff\x80\xc3"
        return bytes(self.rng.choice(some) for _ in range(self.rng.randrange(30)))

    def end(self):
        return self.rng.choice([b"\r", b"\r", b"\r", b"\x1b", b"\t\r", b"", b"\x15", b"\x17\r"])

    def command(self):
        """By name with arguments, or completed from a letter."""
        if self.rng.random() < 0.3:
            tabs = [b"\t" * self.rng.randrange(8) for _ in range(2)]
            return b":" + self.one("abcdfghilmnoprstuvw") + b" ".join(tabs) + self.end()
        name = self.rng.choice(COMMANDS).encode()
        return b":" + name + b" " + self.letters() + b"\t" * self.rng.randrange(3) + self.end()

    def text(self):
        return self.one("/&=") + self.letters() + self.end()

    def form(self):
        moves = [b"\t", b"\x1b[Z", b"\x1b[A", b"\x1b[B", b"\x15", b"\x7f", b" "]
        typed = [self.rng.choice([self.letters(), self.rng.choice(moves)])
                 for _ in range(self.rng.randrange(6))]
        return b"d" + b"".join(typed) + self.end()

    def measuring(self):
        return self.rng.choice([b"b", b"b", b"B", b"x", b"by", b"bn", b"ba", b"e", b"E", b"VVb", b"U", b"x"])

    def paste(self):
        body = b"".join(self.letters() for _ in range(self.rng.choice([10, 300])))
        body = body if self.leaves else body.replace(b"q", b"r")
        return self.rng.choice([b":", b"/", b"&", b"d"]) + b"\x1b[200~" + body + b"\x1b[201~" + self.end()

    def escape(self):
        numbers = bytes(self.rng.choice(b"0123456789;?<>") for _ in range(self.rng.randrange(8)))
        return b"\x1b[" + numbers + self.one("ABCDHFMRcmn~")

    def stop(self):
        """^Z, between keys that draw."""
        return b"".join(self.rng.choice([b"\x1a", b"j", b"\x0c"]) for _ in range(6))

    def device(self):
        """Uses one, or marks it to be compared."""
        moves = self.rng.choice([b"j", b"k", b"/h100\r", b"G"])
        return b"D" + moves + self.rng.choice([b"\r", b"V", b"Vgs"])

    def model(self):
        if self.rng.random() < 0.5:
            return b":open " + bytes(self.rng.choice(MODELS)) + b"\r"
        return b"O" + self.rng.choice([b"j\r", b"G\r", b"o\x15./m\t\r", b"o\x15\xff\xfe\r", b"/resnet\r\r"])

    def mouse(self):
        """A press, a release, the wheel or a drag."""
        if self.rng.random() < 0.1:
            return b":mouse " + self.rng.choice([b"on", b"off", b""]) + b"\r"
        column, row = self.rng.choice([(80, 24), (300, 100), (10, 10)])
        one = b"\x1b[<%d;%d;%d" % (self.rng.choice([0, 0, 0, 1, 2, 16, 32, 64, 65, 66]),
                                  self.rng.randint(1, column), self.rng.randint(1, row))
        return (one + b"M" + one + b"m") * self.rng.choice([1, 1, 2])

    def scenario(self):
        """Saved under a name, renamed, deleted, taken as the base."""
        act = self.rng.choice([b"s", b"\x1bOQ", b"X", b".", b"\r"])
        return b"gs" + self.one("jkG") + act + self.letters() + self.rng.choice([b"\r", b"y", b"n", b"\x1b"])

    def theme(self):
        return b":theme " + self.rng.choice([b"auto", b"dark", b"light", b"ansi", b"mono",
                                             b"light,warning=208 bold", self.letters()]) + b"\r"


class Program(job_control.Terminal):
    """The explorer."""

    def __init__(self, rng, folder, model, runner, measure):
        self.folder, self.model, self.runner = folder, model, runner
        config = folder / "config.yaml"
        lib = python_tap.ROOT / "tests/lib"
        words = f'[sh, "{lib}/word_runner.sh", Word 1, "words, 1 thread"]'
        hostile = f'[env, "ASAN_OPTIONS=detect_leaks=0", "{HOSTILE}"]'
        runners = {"words": words, "hostile": hostile, "nobody": '[sh, -c, "exit 7"]'}
        config.write_text(
            f"measure: {measure}\nmouse: {rng.choice(['true', 'false'])}\npython: /bin/false\n"
            f"runners:\n  cpu: {runners[runner]}\n"
            f'  more: {words}\n  cuda: [sh, "{lib}/plan_runner.sh", answers]\n'
            f'batch: [1, 8]\ndtype: [f32, bf16]\nagents:\n  good: [python3, "{lib}/fake_agent.py", good]\n'
            f'  bad: [python3, "{lib}/fake_agent.py", garbage]\nscenarios:\n  fused: [fusion, parallel]\n'
            "  eight: { batch: 8, dtype: bf16 }\n  away: { device: h100 }\n")
        database = ["--tour"] if model == TOUR else [str(model), "--db", str(folder / "monkey.db")]
        command = [python_tap.program(), *database, "-c", str(config)]
        if rng.random() < 0.3:
            command += ["--theme", rng.choice(["auto", "dark", "light", "ansi", "mono"])]
        command += ["--ascii"] if rng.random() < 0.2 else []
        command += ["--fresh"] if rng.random() < 0.3 else []
        self.command = command
        log = folder / "sanitizer"
        env = {k: v for k, v in os.environ.items() if not k.startswith(("COLUMNS", "LINES", "TMUX"))}
        env |= {"HOME": str(folder), "LC_ALL": "C.UTF-8", "WORD_QUICK": "1", "WORD_SPREAD": "400",
                "TERM": rng.choice(["xterm-256color", "screen", "vt100", "linux"]),
                "ASAN_OPTIONS": f"exitcode=99:log_path={log}:detect_leaks=1:handle_segv=2:handle_abort=2",
                "UBSAN_OPTIONS": f"exitcode=98:print_stacktrace=1:log_path={log}"}
        env |= {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
        if rng.random() < 0.2:
            env["NO_COLOR"] = "1"
        self.typed = b""
        super().__init__(command, env, folder)

    def type(self, data):
        self.typed = (self.typed + data)[-KEPT_KEYS:]
        return super().type(data)

    def leave(self, how):
        """The exit status. how: one of ENDINGS."""
        if not self.lives():
            return
        if how == "hang up":
            self.hang_up()
        elif how == "terminate":
            self.signal(signal.SIGTERM)
            end = time.monotonic() + job_control.GIVEN_UP_S
            while self.hear(0.5) and time.monotonic() < end:
                pass
        else:
            self.leave_by_keys()
        if self.status is None:
            raise TimeoutError(f"does not leave: {how}")

    def leave_by_keys(self):
        self.type(b"\x1b")
        self.hear(0.5)
        end = time.monotonic() + job_control.GIVEN_UP_S
        while self.type(b"\x1b\x1b") and self.hear(0.3) and self.type(b"Q") and time.monotonic() < end:
            until = time.monotonic() + 2
            while time.monotonic() < until and self.hear(0.2):
                pass

    def report(self, what):
        yield what
        yield " ".join(self.command)
        yield f"runner {self.runner}, size {self.size}"
        yield f"typed last: {self.typed!r}"
        yield f"shown first: {self.first!r}"
        yield f"shown last: {self.shown[-600:]!r}"
        said = re.findall(rb"benanza: [^\r\n]*", self.shown)
        yield f"said: {said}"
        for log in sorted(self.folder.glob("sanitizer*")):
            yield from log.read_text(errors="replace").splitlines()[:60]


class Monkey:
    def __init__(self, options):
        self.rng, self.options = random.Random(options.seed), options
        self.typist = Typist(self.rng, not options.steady)
        self.end = time.monotonic() + options.seconds
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="monkey."))
        self.presses = self.starts = 0
        self.wrong, self.memory = [], []

    def program(self):
        model = pathlib.Path(self.options.model) if self.options.model else self.rng.choice(MODELS)
        if not self.options.model and not self.options.steady and self.rng.random() < 0.1:
            model = TOUR
        hostile = ["hostile"] if HOSTILE.exists() else []
        runner = self.rng.choice(["words", "words", "words", "nobody", *hostile])
        measure = self.rng.choice(["never", "ask", "always"])
        self.starts += 1
        return Program(self.rng, self.folder, model, "words" if self.options.steady else runner, measure)

    def act(self, program):
        """False when the program has ended."""
        self.presses += 1
        if self.rng.random() < 0.04:
            any_size = (self.rng.randint(1, 300), self.rng.randint(1, 100))
            program.resize(self.rng.choice([*SIZES, any_size, any_size]))
        if not program.type(self.typist.next()):
            return False
        if self.rng.random() < 0.01:  # a terminal that lags
            time.sleep(0.3)
        if not program.hear(self.rng.choice([0, 0, 0.002, 0.02])):
            return False
        return self.presses % 100 or program.lives()

    def run(self, program, until):
        """A program's life: [] or what is wrong."""
        due, samples, how = time.monotonic() + SETTLED_S, [], "key"
        try:
            program.begin()
            while time.monotonic() < until and self.act(program):
                if time.monotonic() > due:
                    samples.append(program.memory_kib())
                    due += SAMPLE_S
            if program.status is None:
                if len(samples) > 1:
                    self.memory.append(samples)
                how = self.rng.choice(["key", "key", "key", "terminate", "hang up"])
                program.leave(how)
        except TimeoutError as error:
            return list(program.report(str(error)))
        finally:
            program.kill()
        good = program.status in (0, *INTERRUPTED, *ENDINGS[how])
        return [] if good else list(program.report(f"ended with {program.status}: {how}"))

    def go(self):
        while time.monotonic() < self.end and not self.wrong:
            life = self.options.seconds if self.options.steady else self.rng.choice([2, 5, 10, 30])
            self.wrong = self.run(self.program(), min(self.end, time.monotonic() + life))
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.wrong

    def grown(self):
        for samples in self.memory:
            half = len(samples) // 2
            before, after = max(samples[:half]), max(samples[half:])
            minutes = " ".join(str(kib // 1024) for kib in samples[::6])
            print(f"# MiB each minute: {minutes}; most KiB of the halves: {before}, {after}")
            if after > before + GROWTH_KIB:
                yield f"grew from {before} to {after} KiB"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=float(os.environ.get("MONKEY_SECONDS") or 12))
    seed = os.environ.get("MONKEY_SEED") or random.SystemRandom().randrange(10**6)
    p.add_argument("--seed", type=int, default=int(seed))
    p.add_argument("--steady", action="store_true")
    p.add_argument("--model")
    monkey = Monkey(p.parse_args())
    tap = python_tap.Tap()
    print(f"# seed {monkey.options.seed}")
    wrong = monkey.go()
    name = f"{monkey.presses} random keys, commands, texts and sizes in {monkey.starts} runs"
    tap.result(name, wrong, most=120)
    if monkey.memory:
        tap.result("memory does not grow", monkey.grown())
    return tap.end()


sys.exit(main())
