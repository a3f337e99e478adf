#!/usr/bin/env python3
"""Words of comments, screens and pages that an engineer has to decode, as TAP: each with what to say."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap  # noqa: E402
from format import sources  # noqa: E402

TOPS = ("src/", "ui/", "docs/", "man/", "configs/", "README.md", "NEWS.md", "CONTRIBUTING.md")
WORDS = {
    r"so many": "the number",
    r"whole numbers?": "integers",
    r"bends? numbers": "distorts measurements",
    r"cannot be told": "is unknown",
    r"is nowhere": "does not exist",
    r"(?:is|are) none(?! of)": "no such NOUN, or is not one",
    r"of one's own": "custom",
    r"is (?:only )?described: (?:nothing|no)": "is a described device",
    r"by what (?:the|fusion|launch|%s)": "by the NOUN of",
    r"what is measured again": "repeated measurements",
    r"as many as there is": "as many as fit",
    r"is no (?:input|number|colour|key|data type|regular file)": "is not a",
    r"look(?:s|ed)? anew": "look again",
    r"tak(?:en|es?) along": "copied, or included",
    r"not calm": "busy",
    r"mend(?:s|ed)? (?:that|it)": "corrects it",
}


def main():
    tap = Tap()
    texts = {name: " ".join((ROOT / name).read_text(encoding="utf-8").replace("\n * ", " ").split())
             for name in sources() if name.startswith(TOPS)}
    any_word = re.compile("|".join(WORDS))
    texts = {name: text for name, text in texts.items() if any_word.search(text)}
    for word, better in WORDS.items():
        pattern = re.compile(rf"\b{word}\b")
        tap.result(f'"{word}": rather "{better}"',
                   [f"{name}: {text[max(0, m.start() - 40):m.end() + 30]}" for name, text in texts.items()
                    for m in pattern.finditer(text)])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
