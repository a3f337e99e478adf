"""The front: the protocol of docs/wire.md on standard input and output, and one worker process for each
job."""

import argparse
import collections
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from . import VERSION, machine, worker

LINE = 1 << 20  # bytes of a line
HEARTBEAT_S = 0.5
MOST_JOBS = 100000
KIND = "model"
SHORT = 4096  # bytes of a text
LONG = 60000  # bytes of a list of names


class Lines:
    """Splits the input from a descriptor into lines."""

    def __init__(self, descriptor, limit=LINE):
        self.descriptor, self.limit, self.rest, self.skips, self.open = descriptor, limit, b"", False, True

    def read(self):
        """Returns the complete lines that are available; None stands for a line that is too long."""
        part = os.read(self.descriptor, 1 << 16)
        if not part:
            self.open = False
            last, self.rest = self.rest, b""
            return [last] if last.strip() and not self.skips else []
        *lines, self.rest = (self.rest + part).split(b"\n")
        found = []
        for line in lines:
            found.append(None if self.skips or len(line) > self.limit else line)
            self.skips = False
        if len(self.rest) > self.limit:
            self.rest, self.skips = b"", True
        return found


class Worker:
    """The process of one job."""

    def __init__(self, agent, job):
        self.folder = tempfile.mkdtemp(prefix="benanza-job-")  # for all temporary files of the job
        environment = {**os.environ, "BENANZA_AGENT_FRONT": str(os.getpid()), "PYTHONDONTWRITEBYTECODE": "1"}
        environment["TMPDIR"] = self.folder
        flags = ["-I"] * bool(sys.flags.isolated) + ["-S"] * bool(sys.flags.no_site)
        self.process = subprocess.Popen(
            [sys.executable, *flags, agent.FILE, "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self.job, self.lines, self.what, self.since = (
            job,
            Lines(self.process.stdout.fileno(), 64 << 20),
            "",
            time.monotonic(),
        )
        self.draft = self.execution = None
        self.needs, self.ended, self.reason = None, False, ""
        self.tell(job)

    def tell(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # its end is noticed by reading

    def wait(self):
        """Waits for the process and removes its temporary files. Returns its exit status."""
        status = self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status

    def kill(self, reason=""):
        self.reason = self.reason or reason
        try:
            self.process.kill()
        except OSError:
            pass


class Front:
    def __init__(self, agent, idle_s, step_s):
        self.agent, self.idle_s, self.step_s = agent, idle_s, step_s
        self.out = os.dup(1)
        os.dup2(2, 1)
        self.from_file = stat.S_ISREG(os.fstat(0).st_mode)
        self.to_file = stat.S_ISREG(os.fstat(self.out).st_mode)
        self.jobs, self.worker, self.quits = collections.deque(), None, False
        self.said = self.active = time.monotonic()

    # -- output

    def send(self, message):
        data = memoryview(json.dumps(message).encode() + b"\n")
        if len(data) > LINE:
            raise ValueError("line too long")
        try:
            while data:
                data = data[os.write(self.out, data) :]
        except OSError:  # its reader is gone
            self.leave(0)
        self.said = time.monotonic()

    def log(self, text, id_=0):
        self.send({"type": "log", "id": id_, "what": worker.one_line(text)})

    def done(self, job, status, why=""):
        message = {"type": "done", "id": job["id"], "status": status, "why": why}
        if job.get("kind", "problem") != "problem":
            message["kind"] = str(job["kind"])[:32]
        if isinstance(job.get("payload"), str):
            message["payload"] = job["payload"][:1023]
        self.send(message)

    def leave(self, status):
        if self.worker:
            self.worker.kill()
            self.worker.wait()
        os._exit(status)

    # -- input

    def take(self, line):
        if line is None:
            return self.log(f"error: a line of more than {LINE} bytes")
        if not line.strip():
            return None
        try:
            message = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            return self.log(f"error: not JSON: {error}")
        if not isinstance(message, dict):
            return self.log("error: not an object")
        id_ = message.get("id", 0)
        if isinstance(id_, bool) or not isinstance(id_, int) or not 0 <= id_ < 1 << 63:
            return self.log("error: 'id' is not an integer above 0")
        message["id"] = id_
        known = {
            "run": self.queue,
            "file": self.pass_file,
            "cancel": self.cancel,
            "quit": self.quit,
            "algorithms": self.algorithms,
        }
        kind = message.get("type")
        handler = known.get(kind) if isinstance(kind, str) else None
        if handler:
            return handler(message)
        why = f"error: unknown message '{str(kind)[:80]}'"
        return self.done(message, "failed", why) if id_ else self.log(why)

    def queue(self, message):
        if not message["id"]:
            return self.log("error: a job needs an id above 0")
        if len(self.jobs) >= MOST_JOBS and not self.from_file:
            return self.done(message, "failed", "too many jobs are waiting")
        return self.jobs.append(message)

    def algorithms(self, message):
        self.done(message, "unsupported", "an agent runs models; it has no algorithms")

    def quit(self, _message):
        self.quits = True

    def cancel(self, message):
        chosen = [job for job in self.jobs if message["id"] in (0, job["id"])]
        self.jobs = collections.deque(job for job in self.jobs if job not in chosen)
        for job in chosen:
            self.done(job, "failed", "cancelled")
        if self.worker and message["id"] in (0, self.worker.job["id"]):
            self.worker.kill("cancelled")

    def pass_file(self, message):
        worker_ = self.worker
        if not worker_ or worker_.job["id"] != message["id"] or message.get("sha256") != worker_.needs:
            return self.log("error: a file that no job needs", message["id"])
        worker_.needs = None
        return worker_.tell(message)

    # -- jobs

    def start(self):
        job = self.jobs.popleft()
        kind = job.get("kind", "problem")
        if kind != KIND:
            why = f"an agent runs models, not jobs of the kind {str(kind)[:80]!r}"
            text = job.get("payload", job.get("problem", ""))
            result = {
                "problem": text if isinstance(text, str) else "",
                "status": "unsupported",
                "cache": "net",
                "launch": "amortized",
                "why": why,
                "kernels": "",
                "enqueue_ns": None,
                "clock_mhz": None,
                "measured_at": int(time.time()),
                "runner_version": VERSION,
                "algorithm": {
                    "api": "",
                    "name": "",
                    "layouts": "",
                    "math": "",
                    "rank": 0,
                    "matrix": "unknown",
                    "workspace_bytes": None,
                    "notes": "",
                },
            }
            message = {"type": "result", "id": job["id"], "result": result}
            if kind != "problem":
                message["kind"] = str(kind)[:32]
            self.send(message)
            return self.done(job, "unsupported", why)
        self.worker = Worker(self.agent, job)
        return None

    def hear(self, line):
        """Handles a line of the worker."""
        worker_, id_ = self.worker, self.worker.job["id"]
        try:
            message = json.loads(line) if line else {}
        except ValueError:
            message = {}
        kind = message.get("type")
        if kind == "progress":
            worker_.what, worker_.since = message["what"], time.monotonic()
        elif kind == "need":
            worker_.needs = message["sha256"]
            self.send({**message, "id": id_})
        elif kind == "draft":
            worker_.draft = message["execution"]
        elif kind == "execution":
            worker_.execution = message["execution"]
            made = {"trial": message["trial"]} if "trial" in message else {}
            self.send({"type": kind, "id": id_, "execution": fitting(worker_.execution), **made})
        elif kind == "row":
            self.send({"type": kind, "id": id_, "row": fitting(message["row"])})
        elif kind == "end":
            worker_.ended = True

    def end_job(self):
        """Reports the end of the job once the worker's output has ended."""
        worker_, self.worker = self.worker, None
        status = worker_.wait()
        self.active = time.monotonic()
        if worker_.reason == "cancelled":
            return self.done(worker_.job, "failed", "cancelled")
        if not worker_.ended:
            why = worker_.reason or ending(status, worker_.what)
            execution = worker_.draft or worker.new_execution(self.agent, None)
            if worker_.draft:
                execution["gaps"] = "; ".join(filter(None, [execution["gaps"], why]))
            else:
                execution.update({"status": "timeout" if worker_.reason else "crashed", "why": why})
                model = worker_.job.get("model")
                digest = model.get("sha256") if isinstance(model, dict) else None
                execution["model_hash"] = digest if isinstance(digest, str) else ""
            if not worker_.execution:
                worker_.execution = execution
                self.send({"type": "execution", "id": worker_.job["id"], "execution": fitting(execution)})
        return self.done(worker_.job, worker_.execution["status"], worker_.execution["why"])

    def serve(self):
        self.send({"magic": "BENANZA-RUNNER", "type": "hello", **self.agent.describe()})
        source = Lines(0)
        while True:
            if self.quits:
                self.leave(0)
            if not self.worker and self.jobs:
                self.start()
                continue
            if not self.worker and not source.open:
                self.leave(0)
            if self.worker and self.worker.needs and not source.open:
                self.worker.tell({"why": "end of input"})
                self.worker.needs = None
            watched = [source.descriptor] * source.open
            if self.worker:
                watched.append(self.worker.lines.descriptor)
            self.wait(watched, source)

    def wait(self, watched, source):
        """Waits until input arrives or a heartbeat is due."""
        ready = select.select(watched, [], [], max(0.0, self.said + HEARTBEAT_S - time.monotonic()))[0]
        if source.descriptor in ready:
            self.active = time.monotonic()
            for line in source.read():
                self.take(line)
        worker_, now = self.worker, time.monotonic()
        if worker_ and worker_.lines.descriptor in ready:
            for line in worker_.lines.read():
                self.hear(line)
            if not worker_.lines.open:
                return self.end_job()
        if worker_ and now - worker_.since > self.step_s and not worker_.needs:
            worker_.kill(
                f"{worker_.what or 'the start'} took more than {self.step_s:g} seconds (--step-limit)"
            )
        if now - self.said >= HEARTBEAT_S:
            self.said = now
            if not self.to_file:
                self.send(
                    {
                        "type": "heartbeat",
                        "id": worker_.job["id"] if worker_ else 0,
                        "what": worker_.what if worker_ else "",
                    }
                )
        if not worker_ and not self.jobs and not self.from_file and now - self.active > self.idle_s:
            self.leave(0)
        return None


def ending(status, what):
    """Returns the reason why a worker ended by itself, as text."""
    during = f" ({what})" if what else ""
    if status == -signal.SIGKILL:
        return f"the system killed the process with signal 9, most likely because memory ran out{during}"
    if status < 0:
        return f"the framework crashed with signal {-status}{during}"
    return f"the framework ended the process with exit status {status}{during}"


def fitting(message):
    """Cuts the texts and lists of a row or an execution to the lengths that docs/wire.md allows."""
    for key, value in message.items():
        if isinstance(value, str):
            message[key] = value.encode("utf-8", "replace")[:SHORT].decode("utf-8", "ignore")
        elif isinstance(value, list):
            room, kept = LONG, []
            for name in value:
                room -= len(str(name).encode("utf-8", "replace")) + 1
                if room < 0:
                    break
                kept.append(name)
            message[key] = kept
    settings = message.get("settings")
    if settings and len(json.dumps(settings)) > LONG:
        settings.pop("options", None)
    return message


def seconds(text):
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"not a number of seconds: {text}")
    return value


def main(agent):
    parser = argparse.ArgumentParser(
        description=f"Runs whole models with {agent.NAME} for benanza (docs/wire.md): "
        "jobs on standard input, executions on standard output."
    )
    parser.add_argument("--version", action="version", version=f"{agent.PROGRAM} {VERSION}")
    parser.add_argument(
        "--idle", type=seconds, default=60, metavar="SECONDS", help="exit after this time without a job (60)"
    )
    parser.add_argument(
        "--step-limit",
        type=seconds,
        default=1800,
        metavar="SECONDS",
        help="end a job if one step, such as creating the session, takes longer (1800)",
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker.main(agent)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    front = Front(agent, options.idle, options.step_limit)
    signal.signal(signal.SIGTERM, lambda *_: front.leave(143))
    signal.signal(signal.SIGHUP, lambda *_: front.leave(129))
    return front.serve()


def hello(agent, model, providers, version, threads=None, **attributes):
    """Returns the hello of an agent. version: None if the framework is not installed."""
    count = threads or len(machine.cores())
    return {
        "protocol": 1,
        "runner": agent.PROGRAM,
        "version": VERSION,
        "name": agent.NAME,
        "model": model,
        "stack": f"{agent.NAME} {version or 'not installed'}, {count} threads bound one a core",
        "threads": count,
        "llc_bytes": None,
        "has_matrix": False,
        "host": os.uname().nodename,
        "jobs": [KIND],
        "attributes": {
            "framework": agent.NAME,
            "version": version,
            "providers": providers,
            "python": sys.version.split()[0],
            "executable": sys.executable,
            **attributes,
        },
    }
