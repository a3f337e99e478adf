#!/usr/bin/env python3
"""Seeds for a fuzz target that need not be kept: what the tests have, cut into single cases, and, where Python's onnx package
is there, the models of its node tests. usage: make_seeds.py SRCDIR TARGET FOLDER"""
import pathlib
import shutil
import sys

MODEL_BYTES_MOST = 2048


def node_tests():
    """Small models of the onnx package's tests, from files or from its code, whichever this version has."""
    try:
        import onnx.backend.test
    except ImportError:
        return
    data = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "node"
    files = sorted(data.glob("*/model.onnx")) if data.is_dir() else []
    for path in files:
        yield path.parent.name, path.read_bytes()
    if not files:
        from onnx.backend.test.case.node import collect_testcases
        for case in collect_testcases(None):
            if case.model is not None:
                yield case.name, case.model.SerializeToString()


def models(top):
    for path in sorted((top / "tests/models").glob("*.onnx")):
        yield path.stem, path.read_bytes()
    yield from node_tests()


def cases(top):
    for path in sorted((top / "tests/ops").glob("*.case")):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        for i, case in enumerate("\n".join(lines).split("\n\n")):
            yield f"{path.stem}{i}", (case.strip() + "\n").encode()


def problems(top):
    for i, line in enumerate((top / "tests/gpu/problems.txt").read_text().splitlines()):
        if line and not line.startswith("#"):
            yield f"problem{i}", line.replace("T", "f32").encode()


def main():
    top, target, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for kept in (target, "model" if target == "infer" else target):
        for kind in ("corpus", "regressions"):
            for path in (top / "tests/fuzz" / kind / kept).glob("*"):
                shutil.copy(path, folder)
    made = {"infer": models, "model": models, "ops": cases, "problem": problems}.get(target, lambda _: [])
    for name, content in made(top):
        if len(content) <= MODEL_BYTES_MOST:
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
