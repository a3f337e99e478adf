"""Runs benanza-runner-cuda on lists of jobs, resumes, and survives its losses. Standard library only.

A list of jobs is answered into one file, which the runner itself continues (`--output`). The file loses at
most the running problem, whatever is killed. A problem that ends the runner, or on which it stays silent, is
left out from then on and reported.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading

import gpu_clock

# maximum losses of the device or of the runner per list
LOSSES = 50
# a runner that writes nothing for so long hangs: a list's slowest problem compiles for a minute
SILENT_S = 180
POLL_S = 0.05
# the last line of its errors while another process measures: then it does not hang
WAITING = "another process measures on this GPU"
# who makes cuDNN's plans: other threads than the one that executes them, or this one itself
AHEAD, IN_PLACE = "ahead", "in place"
PLANS = {AHEAD: [], IN_PLACE: ["--compile-threads", "0"]}
# a runner asked to end gets so long before it is killed
END_S = 5


class Tap:
    """TAP on standard output and, appended, in a file."""

    def __init__(self, path=None):
        self.count = self.failed = 0
        self.path = path

    def write(self, line):
        try:
            print(line, flush=True)
        except BrokenPipeError:  # nobody reads; the file still counts
            sys.stdout = open(os.devnull, "w", encoding="utf-8")
        if self.path:
            with open(self.path, "a", encoding="utf-8") as log:
                log.write(line + "\n")

    def note(self, line):
        self.write("# " + " ".join(str(line).split()))

    def say(self, good, name, *details):
        self.count += 1
        self.failed += not good
        self.write(f"{'ok' if good else 'not ok'} {self.count} - {' '.join(str(name).split())}")
        for detail in filter(None, details):
            self.note(detail)
        return bool(good)

    def skip(self, name, why):
        self.count += 1
        self.write(f"ok {self.count} - {name} # SKIP {' '.join(why.split())}")


class State:
    """A small dictionary kept in a file, which is replaced as a whole."""

    def __init__(self, path):
        self.path = path
        try:
            self.values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.values = {}
        if not isinstance(self.values, dict):
            self.values = {}

    def section(self, name):
        """A dictionary in the state; change it, then save()."""
        if not isinstance(self.values.get(name), dict):
            self.values[name] = {}
        return self.values[name]

    def save(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.values, indent=1), encoding="utf-8")
        os.replace(new, self.path)


def job(number, problem, budget_ms, launches=("amortized",), caches=("net",)):
    return json.dumps({"type": "run", "id": number, "problem": problem, "budget_ms": budget_ms,
                       "caches": list(caches), "launches": list(launches)})


def read_lines(path, kind=""):
    """The JSON objects of a file of answers, or those of one type; a last line that was cut off is left out.
    Other types are not parsed: a recording has hundreds of megabytes."""
    found, word = [], f'"{kind}"' if kind else ""
    if not path.exists():
        return found
    with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            try:
                found += [json.loads(line)] if word in line else []
            except ValueError:
                continue
    return [x for x in found if isinstance(x, dict) and (not kind or x.get("type") == kind)]


def is_answer(line):
    return line.get("type") == "done" and line.get("why") != "cancelled" and not line.get("retry")


def environment(libraries):
    """The environment of a runner: folders of libraries behind those of LD_LIBRARY_PATH."""
    path = ":".join(filter(None, (os.environ.get("LD_LIBRARY_PATH"), libraries)))
    return {**os.environ, **({"LD_LIBRARY_PATH": path} if path else {})}


def end_with_parent():
    """In the child: the system ends it if this program is killed (prctl PR_SET_PDEATHSIG, Linux)."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


def end(process):
    """Asks a process to end, then kills it. Returns when it is gone."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


class Answers:
    """What a list of jobs got: lines, problems without an answer (because time was up), problems given up."""

    def __init__(self, lines, open_, given_up, broken):
        self.lines, self.open, self.given_up, self.broken = lines, open_, given_up, broken
        self.ends = sum(x.get("type") == "done" for x in lines)
        self.done = {x["problem"]: x for x in lines if is_answer(x) and isinstance(x.get("problem"), str)}

    @property
    def complete(self):
        return not self.open and not self.broken

    @property
    def late(self):
        """True if more time would bring more answers."""
        return bool(self.open) and not self.broken

    def results(self, finalists=True):
        """Results with a median; `finalists` leaves out those of the first comparison alone."""
        for line in self.lines:
            r = line.get("result")
            if line.get("type") == "result" and r["status"] == "ok" and not (
                    finalists and r["stats"]["stop"] == "shortlist"):
                yield r


class Feeder:
    """The runner, its folder of answers, and the time. `tick` is called while a runner works."""

    def __init__(self, runner, device, folder, tap, state, silent_s=SILENT_S, tick=None, libraries=""):
        self.runner, self.device, self.folder, self.libraries = runner, device, folder, libraries
        self.tap, self.state, self.silent_s = tap, state, silent_s
        self.tick = tick or (lambda: None)
        self.plans = state.values.get("plans", AHEAD)

    def command(self, *words):
        device = ["--device", self.device] if self.device else []
        return [self.runner, *device, *PLANS[self.plans], *map(str, words)]

    def plan(self, how):
        """From now on plans are made so: a word of PLANS, which the state keeps."""
        self.plans = self.state.values["plans"] = how
        self.state.save()

    def start(self, words, **streams):
        """Starts the runner; it ends with this program."""
        plans = {"BENANZA_PLAN_CACHE": str(self.folder / "plans")}  # they travel with the answers
        env = {**plans, **environment(self.libraries), **streams.pop("variables", {})}
        return subprocess.Popen(self.command(*words), env=env, preexec_fn=end_with_parent, **streams)

    def _work(self, name, jobs, path, options, variables, until):
        """One runner on the jobs. Returns its exit status; "late" if time ran out, "silent" if it hangs."""
        want, err = self.folder / f"{name}.jobs", self.folder / f"{name}.err"
        want.write_text("\n".join(jobs) + "\n", encoding="utf-8")
        with open(want, encoding="utf-8") as jobs_in, open(err, "a", encoding="utf-8") as errors:
            runner = self.start([*options, "--output", path], stdin=jobs_in, stdout=subprocess.DEVNULL,
                                stderr=errors, variables=variables)
            bytes_, grew = -1, gpu_clock.now()
            try:
                while runner.poll() is None:
                    gpu_clock.sleep(POLL_S)
                    self.tick()
                    now, size = gpu_clock.now(), path.stat().st_size if path.exists() else 0
                    bytes_, grew = (size, now) if size != bytes_ else (bytes_, grew)
                    if now >= until:
                        return "late"
                    if now - grew > self.silent_s and WAITING in self._last_error(name):
                        grew = now
                    elif now - grew > self.silent_s:
                        return "silent"
                return runner.returncode
            finally:
                end(runner)

    def _last_error(self, name):
        path = self.folder / f"{name}.err"
        text = path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else ""
        return text.splitlines()[-1] if text else "it wrote no error"

    def feed(self, name, jobs, options=(), until=0.0, variables=None, kind=""):
        """Runs jobs, at most one per problem, into NAME.jsonl. Returns Answers, of one type of lines if it is
        given."""
        path, given_up = self.folder / f"{name}.jsonl", self.state.section("given_up").setdefault(name, {})
        wanted = {json.loads(j)["problem"]: j for j in jobs}
        broken = None
        for _ in range(LOSSES):
            answers = Answers(read_lines(path, kind), [], given_up, None)
            open_ = [p for p in wanted if p not in answers.done and p not in given_up]
            if not open_ or gpu_clock.now() >= until:
                break
            left = [j for p, j in wanted.items() if p not in given_up]
            status = self._work(name, left, path, options, variables or {}, until)
            after = Answers(read_lines(path, kind), [], given_up, None)
            # also by a job whose loss is not its fault, which is tried once more
            advanced = after.ends > answers.ends
            open_ = [p for p in wanted if p not in after.done and p not in given_up]
            if status in (0, 1) and not open_ or status == "late":
                break
            if status == 3 and advanced:
                self.tap.note(f"{name}: the runner lost the device; starting another one")
            elif status == "silent" or isinstance(status, int) and status < 0:
                if open_:
                    given_up[open_[0]] = "nothing happened for %.0f s" % self.silent_s \
                        if status == "silent" else f"the runner died of signal {-status}"
                    self.state.save()
                    self.tap.note(f"{name}: {open_[0]}: {given_up[open_[0]]}; it is left out")
            elif not advanced:
                broken = f"exit status {status}: {self._last_error(name)}"
                break
        else:
            broken = f"the device or the runner was lost {LOSSES} times"
        left_out = {p: w for p, w in given_up.items() if p in wanted}
        return Answers(read_lines(path, kind), open_, left_out, broken)

    def ask(self, text, options, until):
        """Runs a runner on text through a pipe. Returns [(seconds, message)] and its exit status or None.
        Does nothing else meanwhile: the seconds are compared with what the runner measured."""
        left = max(until - gpu_clock.now(), 0)
        runner = self.start(options, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
        told, limit = [], threading.Timer(left + END_S, runner.kill)
        limit.start()
        try:
            runner.stdin.write(text)  # small: the pipe takes it at once
            runner.stdin.close()
            for line in runner.stdout:
                at = gpu_clock.now()
                try:
                    told.append((at, json.loads(line)))
                except ValueError:
                    told.append((at, {"type": "garbage", "what": line[:200]}))
                if at >= until:
                    return told, None
            return told, runner.wait()
        except BrokenPipeError:  # it ended before it read the jobs
            return told, runner.wait()
        finally:
            limit.cancel()
            end(runner)
            runner.stdout.close()
