#!/usr/bin/env python3
"""Keeps the results of a GPU: imports the tar of tests/gpu/first_hour.sh into a new database, checks it,
exports each GPU to data/recorded/NAME.jsonl.gz, and lists the new files in data/local.mk.

    tools/record.py [--benanza PROGRAM] [--data FOLDER] TAR

NAME is the GPU's model in lower case. A file that is there is read first: its results stay.
"""

import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
LISTED = re.compile(r"^(dist_recorded_DATA =)(.*)$", re.M)


def run(*words):
    """The output of a command; ends with its error."""
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"record.py: {' '.join(map(str, words))}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def unpack(path, to):
    """The answers and the hellos of the tar: {folder: model}."""
    models = {}
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                name = pathlib.PurePosixPath(member.name)
                if not member.isfile() or len(name.parts) != 2 or ".." in name.parts or name.is_absolute():
                    continue
                if name.name not in ("info.json", "first.jsonl", "recorded.jsonl"):
                    continue
                (to / name.parts[0]).mkdir(exist_ok=True)
                (to / name).write_bytes(tar.extractfile(member).read())
                if name.name == "info.json":
                    models[to / name.parts[0]] = json.loads((to / name).read_bytes())["model"]
    except (OSError, EOFError, tarfile.TarError, ValueError, KeyError, TypeError) as e:
        sys.exit(f"record.py: {path}: {' '.join(str(e).split())}; give the tar that first_hour.sh wrote")
    return models


def listed(text, name):
    """local.mk with one more file."""
    line = f"data/recorded/{name}"
    if line in text.split():
        return text
    if not LISTED.search(text):
        sys.exit("record.py: data/local.mk has no line dist_recorded_DATA = ...; list the file by hand")
    return LISTED.sub(rf"\1\2 {line}", text, count=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benanza", default=TOP / "build/benanza")
    parser.add_argument("--data", type=pathlib.Path, default=TOP / "data")
    parser.add_argument("tar", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models = unpack(args.tar, folder)
        answers = [p for f in models for p in sorted(f.glob("*.jsonl")) if p.stat().st_size]
        if not answers:
            sys.exit(f"record.py: {args.tar}: it holds no results: neither first.jsonl nor recorded.jsonl")
        for model in sorted(set(models.values())):
            name = re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_") + ".jsonl.gz"
            kept, database = args.data / "recorded" / name, folder / f"{name}.db"
            of = [p for p in answers if models[p.parent] == model]
            if not of:
                continue
            run(args.benanza, "db", "import", "--db", database, *([kept] if kept.exists() else []), *of)
            run(args.benanza, "db", "check", "--db", database)
            lines = run(args.benanza, "db", "export", "--db", database)
            kept.write_bytes(gzip.compress(lines, 9, mtime=0))
            make = args.data / "local.mk"
            make.write_text(listed(make.read_text(encoding="utf-8"), name), encoding="utf-8")
            count = lines.count(b'"type":"result"')
            print(f"{kept}: {count} results of {model}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
