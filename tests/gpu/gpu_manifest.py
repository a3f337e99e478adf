"""The manifest: the least number of algorithms that each library must list for each problem.

Its text (manifest.txt) has the compute capabilities in the order of the columns, then for each problem one
indented line per library (the `api` of an algorithm):

    sm 75 80 89 90 100
    matmul:f16,f16.c,f16/f32:ba1bb1m128n768k768:ta0tb0
        cuDNN 1 2 2 2 2
        cuBLASLt 1 1 1 1 1

`-` expects nothing. A GPU whose compute capability is not listed is held to the next lower column. Needs only
Python's standard library.
"""

import dataclasses
import json
import re

TYPES = ("f32", "f16", "bf16")
# Libraries that list algorithms only with a device: --plan cannot tell whether they would.
ON_DEVICE = ("cuDNN legacy", "cuBLASLt")


def problems(path):
    """The lines of a problem list with T, as a whole word, replaced by each type; without duplicates."""
    seen = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        for type_ in TYPES if re.search(r"\bT\b", line) else ("",):
            seen[re.sub(r"\bT\b", type_, line)] = True
    return list(seen)


def kernel_of(problem):
    return problem.split(":", 1)[0]


def type_of(problem):
    """The type of the first operand: 'f16' of 'conv:f16@nxc,...'."""
    return re.split(r"[,:@./]", problem.split(":", 2)[1])[0]


class ManifestError(Exception):
    """One line: the file, its line, what is expected there."""


@dataclasses.dataclass
class Manifest:
    sms: list           # ascending
    rows: dict          # problem -> {api: [least number or None, one per sm]}

    def column(self, sm):
        """Index of the column for a compute capability; None below the lowest."""
        at = [i for i, listed in enumerate(self.sms) if listed <= sm]
        return at[-1] if at else None

    def expected(self, problem, sm):
        """{api: least number} of a problem; empty if nothing is expected."""
        at = self.column(sm)
        if at is None:
            return {}
        return {api: least[at] for api, least in self.rows.get(problem, {}).items() if least[at]}

    def missing(self, problem, sm, counts, apart=()):
        """Texts for the libraries, except `apart`, that have fewer algorithms ({api: number})."""
        return [f"{api} lists {counts.get(api, 0)} algorithms, at least {least} are expected"
                for api, least in self.expected(problem, sm).items()
                if api not in apart and counts.get(api, 0) < least]


def _numbers(words, count, where):
    if len(words) != count:
        raise ManifestError(f"{where}: expected {count} numbers, one per compute capability")
    for word in words:
        if word != "-" and not (word.isdigit() and int(word) > 0):
            raise ManifestError(f"{where}: '{word}' is neither a number above 0 nor '-'")
    return [None if w == "-" else int(w) for w in words]


def read(path):
    """Reads a manifest. Raises ManifestError."""
    manifest, problem = Manifest([], {}), None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as e:
        raise ManifestError(f"{path}: {e}") from e
    for number, line in enumerate(lines, 1):
        where, words = f"{path}:{number}", line.split()
        if not words or line.startswith("#"):
            continue
        if not manifest.sms:
            sms = [int(w) for w in words[1:] if w.isdigit()]
            if words[0] != "sm" or len(sms) != len(words) - 1 or not sms or sms != sorted(set(sms)):
                raise ManifestError(f"{where}: expected 'sm' and compute capabilities in ascending order")
            manifest.sms = sms
        elif not line[0].isspace():
            problem = line.rstrip()
            if problem in manifest.rows:
                raise ManifestError(f"{where}: {problem} is listed twice")
            manifest.rows[problem] = {}
        elif problem is None or len(words) <= len(manifest.sms):
            raise ManifestError(f"{where}: expected a problem, then lines with a library and "
                                f"{len(manifest.sms)} numbers")
        else:
            api = " ".join(words[:-len(manifest.sms)])
            manifest.rows[problem][api] = _numbers(words[-len(manifest.sms):], len(manifest.sms), where)
    if not manifest.sms:
        raise ManifestError(f"{path}: it has no line 'sm 75 80 ...'")
    return manifest


def text_of(manifest, comment):
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append("sm " + " ".join(map(str, manifest.sms)))
    for problem, apis in manifest.rows.items():
        lines.append(problem)
        lines += [f"    {api} " + " ".join(str(n) if n else "-" for n in least)
                  for api, least in apis.items()]
    return "\n".join(lines) + "\n"


def list_jobs(wanted):
    """Jobs that ask for the algorithms of problems; ids count from 1."""
    return [json.dumps({"type": "algorithms", "id": i, "problem": p}) for i, p in enumerate(wanted, 1)]


def counts_of(lines, wanted):
    """{problem: {api: number}} of the answers to list_jobs(wanted), without those that lack their `done`.
    `wanted` may also be {id: problem}."""
    ids = wanted if isinstance(wanted, dict) else dict(enumerate(wanted, 1))
    counts, done = {p: {} for p in ids.values()}, set()
    for line in lines:
        problem = ids.get(line.get("id"))
        if line.get("type") not in ("algorithm", "done") or not problem:
            continue
        if line["type"] == "done":
            done.add(problem)
        else:
            api = line["algorithm"]["api"]
            counts[problem][api] = counts[problem].get(api, 0) + 1
    return {p: c for p, c in counts.items() if p in done}
