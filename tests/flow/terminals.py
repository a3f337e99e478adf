#!/usr/bin/env python3
"""The explorer in terminals of several kinds: their colours, as TERM and COLORTERM say, and the mouse."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

MODEL = python_tap.ROOT / "tests" / "models" / "tiny.onnx"
WAIT_S = 60
ESC = "\x1b"
INDEXED = re.compile(ESC + r"\[[34]8;5;\d+m")
DIRECT = re.compile(ESC + r"\[[0-9;]*[34]8;2;\d+;\d+;\d+")
BASIC = re.compile(ESC + r"\[[34][0-7]m")


class Terminal:
    """A program on a pseudo terminal of 80x24; `seen` has all that it sent."""

    def __init__(self, home, *arguments, **variables):
        kept = {k: v for k, v in os.environ.items()
                if k not in ("COLUMNS", "LINES", "NO_COLOR", "COLORTERM", "COLORFGBG", "TMUX",
                             "BENANZA_CONFIG")}
        places = {f"XDG_{kind}_HOME": home for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        environment = kept | places | {"HOME": home, "LC_ALL": "C.UTF-8"} | variables
        self.seen = ""
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.execve(python_tap.program(), ["benanza", *map(str, arguments)], environment)

    def read(self, wait_s):
        if not select.select([self.fd], [], [], wait_s)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def see(self, text, since=0):
        """Waits until the program has sent the text after position `since`."""
        end = time.monotonic() + WAIT_S
        while text not in self.seen[since:] and time.monotonic() < end:
            if not self.read(1) and self.ended():
                break
        return text in self.seen[since:]

    def shows(self, text):
        """Waits until the screen has the text: draws all of it again and again (^L)."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and not self.ended():
            at, turn = self.send("\x0c"), time.monotonic() + 1
            while text not in self.seen[at:] and time.monotonic() < turn:
                self.read(0.1)
            if text in self.seen[at:]:
                return True
        return False

    def send(self, text):
        """Returns the position in `seen` from which on answers follow."""
        at = len(self.seen)
        os.write(self.fd, text.encode("latin-1"))
        return at

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status is not None

    def leave(self):
        """Presses Q; the exit status."""
        if not self.ended():
            self.send("Q")
        end = time.monotonic() + WAIT_S
        while not self.ended() and time.monotonic() < end:
            self.read(0.1)
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        while self.read(0):
            pass
        os.close(self.fd)
        return self.status


def check(tap, good, name):
    tap.result(name, [] if good else ["it is not so"])


def explorer(home, *arguments, **variables):
    config = pathlib.Path(home) / "terminals.yaml"
    config.write_text("runners: { none: [sh, -c, 'exit 7'] }\nmeasure: never\n", encoding="utf-8")
    return Terminal(home, "-c", config, "-d", "none", "--fresh", *arguments, MODEL, **variables)


def colours(tap, home):
    for name, variables, want in (
            ("xterm-256color", {}, INDEXED),
            ("xterm-256color and COLORTERM", {"COLORTERM": "truecolor"}, DIRECT),
            ("linux: 8 colours", {}, BASIC),
            ("screen-256color and COLORTERM, not in tmux", {"COLORTERM": "truecolor"}, INDEXED),
            ("vt100", {}, None),
            ("vt100 and COLORTERM", {"COLORTERM": "truecolor"}, None),
            ("xterm-256color and NO_COLOR", {"NO_COLOR": "1", "COLORTERM": "truecolor"}, None)):
        term = explorer(home, TERM=name.split()[0].rstrip(":,"), **variables)
        shown = term.see("Layers") and term.see("quit")
        left = term.leave()
        kinds = [kind for kind in (INDEXED, DIRECT, BASIC) if kind.search(term.seen)]
        # 256 colours and more have no use for the basic ones
        good = shown and left == 0 and kinds == ([want] if want else [])
        check(tap, good, f"{name}: {len(kinds)} kinds of colours")
        check(tap, f"{ESC}[1m" in term.seen or ";1" in term.seen, f"{name}: bold text is bold")
    term = explorer(home, "--theme", "mono", TERM="xterm-256color")
    term.see("quit")
    term.leave()
    check(tap, not INDEXED.search(term.seen) and not BASIC.search(term.seen), "--theme mono: none either")
    term = explorer(home, "--theme", "dark,header=#010203", TERM="xterm-256color", COLORTERM="24bit")
    term.see("quit")
    term.leave()
    check(tap, "38;2;1;2;3" in term.seen, "a colour of one's own")


def background(tap, home):
    term = explorer(home, TERM="xterm-256color", COLORTERM="truecolor")
    asked = term.see(f"{ESC}]11;?")
    term.see("quit")
    dark = "38;2;121;192;255" in term.seen
    at = term.send(f"{ESC}]11;rgb:ffff/ffff/ffff{ESC}\\")
    light = term.see("38;2;5;80;174", at)
    check(tap, asked and dark and light and term.leave() == 0,
          "auto: dark at first, light when the terminal says so")
    term = explorer(home, TERM="xterm-256color", COLORTERM="truecolor")
    followed = term.see(f"{ESC}[?2031h") and term.see("quit")
    at = term.send(f"{ESC}[?997;2n")
    light = term.see("38;2;5;80;174", at)
    at = term.send(f"{ESC}[?997;1n")
    dark = term.see("38;2;121;192;255", at)
    left = term.leave()
    check(tap, followed and light and dark and left == 0 and f"{ESC}[?2031l" in term.seen,
          "auto: it turns light and dark with the terminal")
    term = explorer(home, "--theme", "dark", TERM="xterm-256color", COLORTERM="truecolor")
    term.see("quit")
    at = term.send(f"{ESC}[?997;2n\x0c")
    term.see("quit", at)
    term.leave()
    check(tap, "38;2;5;80;174" not in term.seen, "a chosen theme stays")
    term = explorer(home, TERM="xterm-256color", COLORTERM="truecolor", COLORFGBG="0;15")
    term.see("quit")
    term.leave()
    check(tap, f"{ESC}]11;?" not in term.seen and "38;2;5;80;174" in term.seen,
          "COLORFGBG says it without a question")
    term = explorer(home, TERM="vt100")
    term.see("quit")
    term.leave()
    check(tap, f"{ESC}]11" not in term.seen, "a terminal that would not understand is not asked")


def mouse(tap, home):
    on, off = f"{ESC}[?1000h", f"{ESC}[?1000l"
    term = explorer(home, TERM="xterm-256color")
    term.see("quit")
    at = term.send(f"{ESC}[<0;75;1M")
    term.send("7")
    check(tap, term.shows("[7] Advice") and "Detail" not in term.seen[at:],
          "off: no mouse, and its sequences do nothing")
    check(tap, term.leave() == 0 and on not in term.seen, "off by default")
    (pathlib.Path(home) / "mouse.yaml").write_text(
        "runners: { none: [sh, -c, 'exit 7'] }\nmeasure: never\nmouse: on\n", encoding="utf-8")
    start = ("-c", pathlib.Path(home) / "mouse.yaml", "-d", "none", "--fresh", MODEL)
    term = Terminal(home, *start, TERM="xterm-256color")
    term.see("quit")
    check(tap, on in term.seen and f"{ESC}[?1006h" in term.seen, "mouse: on asks for SGR sequences")
    term.send(f"{ESC}[<0;75;1M{ESC}[<0;75;1m")
    check(tap, term.shows("[2] Detail"), "a click on the view's name shows the next one")
    at = term.send("d")
    opened = term.see("applies all", at)
    at = term.send(f"{ESC}[<0;2;2M{ESC}[<0;2;2m")
    check(tap, opened and term.see("search", at), "one beside the form of dimensions leaves it")
    for hostile in ("[<0;0;0M", "[<0;99999;99999M", "[<;;M", "[<0;1;1", "[<" + "9" * 500 + "M",
                    "[M\x01\x02\x04", "]11;rgb:" + "f" * 500 + "\x07", "[201~", "]0;title\x07"):
        term.send(ESC + hostile)
        term.read(0.05)
    term.send("8")
    check(tap, term.shows("[8] Help"), "hostile sequences do no harm")
    at = term.send("\x1a")
    stopped = term.see(off, at)
    os.kill(term.pid, signal.SIGCONT)
    check(tap, stopped and term.see(on, at), "off while it is stopped, on again afterwards")
    at = term.send(f"{ESC}[200~7Q{ESC}[201~")
    check(tap, term.see("does not act as keys", at) and "[7] Advice" not in term.seen,
          "pasted text is no keys")
    term.send(f"{ESC}[200~x\xe2{ESC}[201~7")
    check(tap, term.shows("[7] Advice"), "a broken letter does not hide the end of a paste")
    term.send("8")
    term.shows("[8] Help")
    term.send(f"{ESC}[200~Q")
    term.read(0.05)
    term.send(ESC)
    term.read(0.1)
    term.send("7")
    check(tap, term.shows("[7] Advice"), "Esc ends a paste whose end was lost")
    check(tap, term.leave() == 0 and term.seen.rindex(off) > term.seen.rindex(on) and
          term.seen.rindex(f"{ESC}[?2004l") > term.seen.rindex(f"{ESC}[?2004h"), "off when it leaves")
    term = Terminal(home, *start, TERM="xterm-256color")
    term.see("quit")
    os.kill(term.pid, signal.SIGSEGV)
    while not term.ended():
        term.read(0.1)
    term.leave()
    check(tap, off in term.seen, "and when it crashes")
    term = Terminal(home, *start, TERM="vt100")
    term.see("quit")
    term.leave()
    check(tap, on not in term.seen, "a terminal without a mouse is not asked for it")


REPLIES = {  # what terminals answer or tell by themselves, as they send it
    "DA1": "[?62;22;52c", "DA1 of 8 bits": "\x9b?62;22c", "DA2": "[>41;354;0c",
    "DA3": "P!|7E565445\x1b\\", "device status": "[0n", "cursor position": "[12;40R",
    "its extended form": "[?12;40;1R", "DECRPM": "[?2026;2$y", "DECREPTPARM": "[2;1;1;120;120;1;0x",
    "XTVERSION of tmux": "P>|tmux 3.4\x1b\\", "XTVERSION of ghostty": "P>|ghostty 1.1.3\x1b\\",
    "XTVERSION of 8 bits": "\x90>|XTerm(390)\x9c", "XTGETTCAP": "P1+r524742=8/8/8\x1b\\",
    "XTGETTCAP without": "P0+r\x1b\\", "DECRQSS": "P1$r2 q\x1b\\",
    "DECRQSS of colours": "P1$r0;38:2q m\x1b\\",
    "DECRQSS that ends with BEL": "P1$r2 q\x07", "DECCIR": "P1$u1;1;1;@;@;@;0;2;@;BB%5q\x1b\\",
    "DECTABSR": "P2$u9/17/25/33qjG\x1b\\", "DECCKSR": "P7!~A3F2\x1b\\", "kitty's APC": "_Gi=31;OK\x1b\\",
    "APC of 8 bits": "\x9fGi=31;ENOENT:jjq\x9c", "PM": "^jjQ\x1b\\", "PM of 8 bits": "\x9ejjQ\x9c",
    "SOS": "Xquit jj\x1b\\",
    "SOS of 8 bits": "\x98quit jj\x9c", "OSC 4": "]4;1;rgb:cdcd/0000/0000\x1b\\",
    "OSC 10": "]10;rgb:dd/dd/dd\x07",
    "OSC of 8 bits": "\x9d12;rgb:dd/dd/dd\x9c", "OSC 52": "]52;c;anE=\x1b\\", "title": "]ljjq\x1b\\",
    "name of the icon": "]Ljjq\x1b\\", "size in pixels": "[4;1080;1920t", "size in letters": "[8;24;80t",
    "keyboard of kitty": "[?1u", "a key as CSI u": "[106u", "modifyOtherKeys": "[27;5;106~",
    "focus in": "[I", "focus out": "[O", "F1 of the Linux console": "[[A", "in-band size": "[48;24;80;0;0t",
    "a dark terminal": "[?997;1n"}


def screen(term):
    """Everything that is drawn, and where the cursor is then."""
    at = len(term.seen)
    os.kill(term.pid, signal.SIGWINCH)
    while not term.seen.endswith(("\x1b[?25h", "\x1b[?25l"), at + 1000) or term.read(0.03):
        if not term.read(1):
            break
    return term.seen[at:]


def in_parts(term, text, gap_s, *ends):
    for begin, end in zip((0, *ends), (*ends, len(text))):
        term.send(text[begin:end])
        time.sleep(gap_s)


def replies(tap, home):
    term = explorer(home, "--theme", "dark", TERM="xterm-256color", COLORTERM="truecolor")
    term.see("quit")
    for prompt in ("", "/"):
        term.send(prompt)
        screen(term)
        before = screen(term)
        for name, reply in REPLIES.items():
            whole = reply if ord(reply[0]) >= 0x80 else ESC + reply
            term.send(whole)
            if not prompt:
                in_parts(term, whole, 0.04, 2, len(whole) - 1)
                in_parts(term, whole, 0.002, *range(2, len(whole)))
            if ord(reply[0]) >= 0x80:  # a terminal in UTF-8
                term.send(whole.encode("utf-8").decode("latin-1"))
            check(tap, screen(term) == before and not term.ended(),
                  f"{name} {'in a prompt' if prompt else 'in a list'} is no key")
    term.send(ESC)
    if not term.shows("quit"):
        tap.result("the prompt is left", ["it is not"])
    screen(term)
    before = screen(term)
    in_parts(term, f"{ESC}P1$r2 q{ESC}\\", 0.06, 1, 2)
    check(tap, screen(term) == before, "a reply whose ESC came alone")
    term.send(f"{ESC}P>|no end jjj")
    time.sleep(1.3)
    check(tap, screen(term) == before, "a string without an end is dropped")
    for name, rest in ("letters and BEL", "j7jj?;\x07"), ("ST", f"{ESC}\\"), ("letters and ST", f"q{ESC}\\"):
        term.send(f"{ESC}]11;rgb:")
        time.sleep(1.3)
        term.send(rest)
        check(tap, screen(term) == before and not term.ended(), f"{name}, which come too late, are no keys")
    at = term.send(f"{ESC}P")
    check(tap, term.see("pages", at), "Esc and P without more are keys")
    term.send(f"{ESC}_without an end")
    term.send(f"{ESC}[B")
    term.send("7")
    check(tap, term.shows("[7] Advice") and term.leave() == 0, "ESC ends a string: keys work after it")


PLACES = re.compile(ESC + r"\[(\d+);(\d+)H")


def cursor(tap, home):
    """Readers of the screen speak what is at the cursor."""
    term = explorer(home, TERM="xterm-256color")
    term.see("quit")
    shown = screen(term)
    row, column = PLACES.findall(shown)[-1]
    check(tap, shown.endswith(f"{ESC}[?12l{ESC}[?25h") and column == "1", "the cursor is at the selected row")
    term.send("j")
    below = screen(term)
    check(tap, PLACES.findall(below)[-1] == (str(int(row) + 1), "1"), "and moves with it")
    term.send("/ab")
    check(tap, PLACES.findall(screen(term))[-1] == ("24", str(len(" /ab") + 1)),
          "in a prompt it is after the text")
    term.send(ESC)
    term.send("d")
    check(tap, screen(term).endswith(f"{ESC}[?25h"), "it is in the field of a form")
    term.send(ESC)
    term.send("8")
    term.shows("[8] Help")
    check(tap, screen(term).endswith(f"{ESC}[?25l"), "a text without a selected row has none")
    check(tap, term.leave() == 0 and term.seen.rindex(f"{ESC}[?25h") > term.seen.rindex(f"{ESC}[?25l"),
          "the shell gets it back")


def frames(tap, home):
    frame = ("--frame", "80x24", "-d", "h100", MODEL)
    term = Terminal(home, *frame, TERM="xterm-256color", COLORTERM="truecolor")
    while term.read(5):
        pass
    status = term.leave()
    check(tap, status in (0, 1) and DIRECT.search(term.seen), "--frame on a terminal has its colours")
    term = Terminal(home, "--no-color", *frame, TERM="xterm-256color", COLORTERM="truecolor")
    while term.read(5):
        pass
    term.leave()
    check(tap, not DIRECT.search(term.seen), "--no-color: none")


def refusal(*arguments):
    done = subprocess.run([python_tap.program(), *arguments, "--frame", "80x24", MODEL], capture_output=True,
                          text=True, timeout=python_tap.TIME_LIMIT_S)
    return done.returncode, done.stderr


def refused(tap, home):
    """Wrong words: one line with the file and its line, exit status 2."""
    path = pathlib.Path(home) / "wrong.yaml"
    for text, want in (
            ("theme: drak", f"{path}:1: theme: there is no theme \"drak\"; did you mean dark?"),
            ("threads: 1\ntheme:\n  warnin: red",
             f"{path}:3: theme: there is no role \"warnin\"; did you mean warning?"),
            ("theme:\n  bad: gren bold",
             f"{path}:2: theme: bad: \"gren\" is not a colour; did you mean green?"),
            ("theme:\n  bad: #ff0000", f"{path}:2: theme: expected a colour; #rrggbb needs quotes"),
            ("theme: [dark]", f"{path}:1: theme: expected a theme"),
            ("theme:\n  bad: red\n  bad: blue", f"{path}:3: theme: bad is given twice"),
            ("mouse: maybe", f"{path}:1: mouse: maybe is not true or false")):
        path.write_text(text + "\n", encoding="utf-8")
        status, said = refusal("-c", path)
        check(tap, status == 2 and want in said and said.count("\n") == 1, f"{text!r}")
    status, said = refusal("--theme", "bright")
    check(tap, status == 2 and "--theme: there is no theme" in said, "--theme bright")


def main():
    tap = python_tap.Tap()
    with tempfile.TemporaryDirectory() as home:
        colours(tap, home)
        background(tap, home)
        mouse(tap, home)
        replies(tap, home)
        cursor(tap, home)
        frames(tap, home)
        refused(tap, home)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
