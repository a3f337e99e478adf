#!/usr/bin/env python3
"""Tests that need a GPU, in tiers that can be interrupted at any moment and resumed.

    tests/gpu/check_gpu.py --runner benanza-runner-cuda --out FOLDER [--minutes 7.5] [--tier NAME,...]
                           [--jobs FILE...] [--tar FILE]

Needs only Python's standard library and the runner; tests/gpu/first_hour.sh is the same as one command.

  smoke     always first, at most four minutes: libraries, the timer against physics and the host's clock, one
            problem a kernel x library, cache states and graphs, a product against the peak, provoked faults
  first     one bundled model after the other (--jobs first-MODEL.jsonl), each complete before the next, from
            few algorithms, into first.jsonl, and the same model in PyTorch behind it
  correct   all of problems.txt: up to 8 algorithms against plain C, and as many as manifest.txt demands
  record    the jobs of the bundled models (--jobs, made by `make gpu-jobs`) into recorded.jsonl, which
            `benanza db import` takes; not if smoke found times wrong, without net if it found that state
            wrong (--anyway: all the same)
  torch     the same models in PyTorch, if it can be imported (tools/torch_models.py), into torch.jsonl
  repeat    own kernels reach their share of a copy's bandwidth; a new process measures the same
  sanitize  a sample of problems under compute-sanitizer, if it is installed
  races     our kernels that use shared memory under its racecheck: slow, only if named
  traffic   the cache states by the bytes that ncu counts, which is slow too: only if named

After smoke each tier has its share of the remaining minutes; what one leaves over goes to the others. Answers
stay in a folder of FOLDER, named after GPU, runner, libraries, problems and manifest; the same command
continues there. --tar packs FOLDER into a file, every minute and at the end; first, what FOLDER lacks is
unpacked from that file. Prints TAP and, per tier, an exit status (also in status.txt): 0 passed,
1 failed, 3 time is up, 77 cannot be done here. The program's own is that of the worst tier; 2 if the command
line or a file is wrong. Without a device all is skipped, with --need-device status 2.
"""

import argparse
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import gpu_clock  # noqa: E402
import gpu_feed  # noqa: E402
import gpu_manifest  # noqa: E402
import gpu_smoke  # noqa: E402
import gpu_tiers  # noqa: E402

# shares of the time after smoke
WEIGHTS = {"first": 12, "correct": 6, "record": 9, "torch": 3, "repeat": 2, "sanitize": 1, "races": 1,
           "traffic": 1}
TIERS = ["smoke", *WEIGHTS]
ASKED = ("races", "traffic")  # only if --tier names them
SMOKE_MINUTES = 4
PACK_EVERY_S = 60
PACK_S = 3           # kept free at the end, for packing
PASSED, FAILED, UNFINISHED, SKIPPED = 0, 1, 3, 77
WORDS = {PASSED: "passed", FAILED: "failed", UNFINISHED: "time is up", SKIPPED: "skipped"}
UNPACKED_MOST = 4 << 30
PLANS_MOST = 8 << 20  # bytes of plans in the tar: a lent machine returns small files only


class Wrong(Exception):
    """One line; exit status 2."""


class Ended(Exception):
    """A signal asked this program to end."""


# --- the tar ---

def too_many(folder):
    """The compiled plans beyond the newest PLANS_MOST bytes."""
    plans = sorted((p for p in folder.glob("*/plans/*") if p.is_file()), key=lambda p: -p.stat().st_mtime)
    sizes = itertools.accumulate(p.stat().st_size for p in plans)
    return {p for p, size in zip(plans, sizes) if size > PLANS_MOST}


def pack(folder, path):
    """Replaces the file as a whole: whatever is killed, it is the old or the new one."""
    new = path.with_name(path.name + ".new")
    with tarfile.open(new, "w:gz", compresslevel=6) as tar:
        for file in sorted(set(folder.rglob("*")) - too_many(folder)):
            if file.is_file() and file.suffix != ".new" and file != path:
                tar.add(file, str(file.relative_to(folder)), recursive=False)
    os.replace(new, path)


def is_needed(member, to):
    """True if a file of the tar is to be taken: it is not there, or is a longer file of answers, which only
    grow."""
    return not to.exists() or (to.suffix == ".jsonl" and member.size > to.stat().st_size)


def unpack(path, folder):
    """Takes what the folder lacks: plain files alone."""
    new, total, taken = folder.with_name(folder.name + ".new"), 0, []
    shutil.rmtree(new, ignore_errors=True)
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                name = pathlib.PurePosixPath(member.name)
                total += member.size
                if not member.isfile() or name.is_absolute() or ".." in name.parts or total > UNPACKED_MOST:
                    raise Wrong(f"{path}: it holds {member.name!r}, which check_gpu.py never packs; "
                                "give the file that it wrote")
                if is_needed(member, folder / name):
                    (new / name).parent.mkdir(parents=True, exist_ok=True)
                    (new / name).write_bytes(tar.extractfile(member).read())
                    taken.append(name)
        for name in taken:  # only when the whole tar could be read
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(new / name, folder / name)
    except (OSError, EOFError, zlib.error, tarfile.TarError) as e:
        raise Wrong(f"{path}: it cannot be unpacked: {e}; move it away to begin anew") from e
    finally:
        shutil.rmtree(new, ignore_errors=True)


# --- the device ---

def describe(args):
    """The runner's hello; a text if there is no device."""
    command = [args.runner, *(["--device", args.device] if args.device else []), "--info", "--json"]
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=120,
                           env=gpu_feed.environment(args.libraries))
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Wrong(f"{args.runner}: it cannot be run: {e}") from e
    last = p.stderr.strip().splitlines()[-1:] or ["it wrote no error"]
    if p.returncode == 3:
        return last[0]
    try:
        info = json.loads(p.stdout)
        return info if isinstance(info["stack"], str) and isinstance(info["model"], str) else 1 // 0
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        raise Wrong(f"{args.runner} --info --json: exit status {p.returncode}: {last[0]}") from None


def folder_of(args, info):
    """A folder per GPU, runner, libraries, problems and manifest: answers of two of them are never mixed."""
    digest = hashlib.sha256()
    for path in (args.runner, args.problems, args.manifest):
        digest.update(hashlib.sha256(pathlib.Path(path).read_bytes()).digest())
    digest.update(f"{info['model']}\n{info['stack']}".encode())
    name = re.sub(r"[^a-z0-9]+", "-", info["model"].lower()).strip("-")[:40] or "gpu"
    return args.out / f"{name}-{digest.hexdigest()[:8]}"


# --- tiers ---

class Check:
    def __init__(self, args, info, manifest):
        self.args, self.until = args, args.begin + 60 * args.minutes - (PACK_S if args.tar else 0)
        self.packed = gpu_clock.now()
        folder = folder_of(args, info)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise Wrong(f"{e}; give a folder that can be written: --out FOLDER") from e
        (folder / "info.json").write_text(json.dumps(info, indent=1), encoding="utf-8")
        self.tap = gpu_feed.Tap(folder / "log.tap")
        self.state = gpu_feed.State(folder / "state.json")
        self.feeder = gpu_feed.Feeder(args.runner, args.device, folder, self.tap, self.state, args.silent,
                                      self.tick, args.libraries)
        self.smoke = gpu_smoke.Smoke(self.feeder, info, manifest)
        self.tiers = gpu_tiers.Tiers(self.feeder, info, manifest, args)
        self.folder = folder

    def tick(self):
        if self.args.tar and gpu_clock.now() - self.packed >= PACK_EVERY_S:
            self.pack()

    def pack(self):
        if self.args.tar:
            try:
                pack(self.args.out, self.args.tar)
            except OSError as e:  # the answers are in the folder; the next time it may succeed
                self.tap.note(f"not packed: {e}; {self.args.out} has everything")
        self.packed = gpu_clock.now()

    def tier(self, name, until):
        """Runs a tier, keeps and tells its status."""
        begin, failed = gpu_clock.now(), self.tap.failed
        self.tap.note(f"--- {name}: {max(until - begin, 0):.1f} s ---")
        if name == "smoke":
            whole = self.smoke.run(until)
            before = [] if whole else self.state.values.get("doubts", [])
            self.state.values["doubts"] = sorted(self.smoke.doubts.union(before))
        elif name in ("first", "record") and gpu_smoke.TIMES in self.doubts():
            self.tap.say(False, f"{name}: times can be believed",
                         "smoke found them wrong: mend that first, or record with --anyway")
            whole = True
        else:
            self.tiers.without_net = gpu_smoke.NET in self.doubts()
            self.state.section("without_net")[name] = self.tiers.without_net
            whole = getattr(self.tiers, name)(until)
        if isinstance(whole, str):
            self.tap.skip(name, whole)
        status = FAILED if self.tap.failed > failed else SKIPPED if isinstance(whole, str) else \
            PASSED if whole else UNFINISHED
        self.state.section("tiers")[name] = status
        self.state.section("left")[name] = whole is False
        self.state.save()
        self.tap.note(f"tier {name}: {status} {WORDS[status]} after {gpu_clock.now() - begin:.0f} s")
        self.pack()

    def doubts(self):
        """What smoke found wrong of later results; nothing with --anyway."""
        return [] if self.args.anyway else self.state.values.get("doubts", [])

    def lacks_net(self, name):
        """True if the tier passed without the state net, which is in doubt no longer."""
        return self.state.section("without_net").get(name) and gpu_smoke.NET not in self.doubts()

    def has_left(self, name):
        """True if the tier was cut off by the time."""
        return self.state.section("left").get(name, True)

    def share(self, names):
        """Runs tiers, each for its share of the time that is left."""
        for i, name in enumerate(names):
            now = gpu_clock.now()
            weight = sum(WEIGHTS[n] for n in names[i:])
            self.tier(name, now + max(self.until - now, 0) * WEIGHTS[name] / weight)

    def run(self):
        """All tiers that have not passed; then those that were cut off, with what time the others left."""
        statuses = self.state.section("tiers")
        names = [n for n in self.args.tier if statuses.get(n) != PASSED or self.lacks_net(n)]
        for name in [n for n in self.args.tier if n not in names]:
            self.tap.note(f"tier {name}: passed before, in {self.folder}")
        try:
            if "smoke" in names:
                self.tier("smoke", min(self.until, gpu_clock.now() + 60 * SMOKE_MINUTES))
            later = [n for n in names if n != "smoke"]
            self.share(later)
            while self.until - gpu_clock.now() > 1 and any(map(self.has_left, later)):
                self.share([n for n in later if self.has_left(n)])
        except Ended as e:
            self.tap.note(f"{e}: the same command continues")
            for name in names:
                statuses.setdefault(name, UNFINISHED)
        return self.end()

    def end(self):
        statuses = {n: self.state.section("tiers").get(n, UNFINISHED) for n in self.args.tier}
        text = "".join(f"{n} {s} {WORDS[s]}\n" for n, s in statuses.items())
        (self.folder / "status.txt").write_text(text, encoding="utf-8")
        self.state.save()
        self.pack()
        for line in text.splitlines():
            self.tap.note(line)
        self.tap.write(f"1..{self.tap.count}")
        if self.tap.count == 0 and FAILED in statuses.values():
            return FAILED
        return next((s for s in (FAILED, UNFINISHED) if s in statuses.values()), PASSED)


def number(text):
    """A number above 0 and below a week of minutes."""
    value = float(text)
    if not 0 < value <= 10080:
        raise ValueError
    return value


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--tar", type=pathlib.Path)
    parser.add_argument("--device")
    parser.add_argument("--need-device", action="store_true")
    parser.add_argument("--minutes", type=number, default=7.5)
    parser.add_argument("--tier", type=lambda t: t.split(","),
                        default=[t for t in TIERS if t not in ASKED])
    parser.add_argument("--anyway", action="store_true")
    parser.add_argument("--algorithms", type=int, default=gpu_tiers.RECORD_ALGORITHMS,
                        help="maximum per problem of the models")
    parser.add_argument("--silent", type=number, default=gpu_feed.SILENT_S,
                        help="seconds after which a runner that writes nothing is killed")
    parser.add_argument("--libraries", default="", metavar="FOLDER:...",
                        help="where the runner finds libraries after LD_LIBRARY_PATH")
    parser.add_argument("--problems", type=pathlib.Path, default=HERE / "problems.txt")
    parser.add_argument("--manifest", type=pathlib.Path, default=HERE / "manifest.txt")
    parser.add_argument("--jobs", nargs="*", type=pathlib.Path, default=[])
    args = parser.parse_args()
    for tier in args.tier:
        if tier not in TIERS:
            parser.error(f"unknown tier {tier}; available: {', '.join(TIERS)}")
    args.tier = [t for t in TIERS if t in args.tier]
    args.here, args.runner = HERE, shutil.which(args.runner) or args.runner
    args.first = [p for p in args.jobs if p.name.startswith("first-")]
    args.jobs = [p for p in args.jobs if p not in args.first]
    args.out, args.tar = args.out.resolve(), args.tar and args.tar.resolve()
    return args


def bail_out(why):
    print(f"Bail out! {' '.join(str(why).split())}")
    return 2


def main():
    begin = gpu_clock.now()
    args = options()
    args.begin = begin
    try:
        manifest = gpu_manifest.read(args.manifest)
        info = describe(args)
        if isinstance(info, str) and not args.need_device:
            print(f"1..0 # SKIP {info}")
            return PASSED
        if isinstance(info, str):
            raise Wrong(f"{args.runner}: {info}")
        if args.tar and args.tar.exists():
            unpack(args.tar, args.out)
        for path in args.first + args.jobs:
            path.read_bytes()
        check = Check(args, info, manifest)
    except (Wrong, OSError, gpu_manifest.ManifestError) as e:
        return bail_out(e)

    def ended(number, frame):
        for other in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(other, signal.SIG_IGN)
        raise Ended(signal.Signals(number).name)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ended)
    try:
        return check.run()
    except OSError as e:
        return bail_out(f"{e}; what was answered is in {check.folder}, and the same command continues")
    except (Ended, KeyboardInterrupt):
        return UNFINISHED


if __name__ == "__main__":
    sys.exit(main())
