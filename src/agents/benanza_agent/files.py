"""Finds the model's files at the path in the request, else receives them in chunks and caches them."""

import base64
import binascii
import hashlib
import os
import re
import shutil

CHUNK = 524288
DEFAULT_LIMIT = 16 << 30


class FileError(Exception):
    pass


def check_name(name):
    """Refuses a name of external data that could leave the model's folder or collide with the model's."""
    parts = name.split("/") if isinstance(name, str) and len(name) <= 255 else [""]
    if (
        any(not part or part.startswith(".") or "\\" in part or "\0" in part for part in parts)
        or parts[0] == "model.onnx"
    ):
        raise FileError(f"external data: the name {name!r} is refused")
    return name


def check_digest(digest):
    if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise FileError(f"not a SHA-256: {str(digest)[:80]!r}")
    return digest


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while True:
            part = file.read(1 << 20)
            if not part:
                return digest.hexdigest()
            digest.update(part)


def is_file(path, size, digest):
    try:
        return os.path.isfile(path) and os.path.getsize(path) == size and digest_of(path) == digest
    except OSError:
        return False


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "benanza", "models")


def cache_limit():
    text = os.environ.get("BENANZA_AGENT_CACHE_BYTES", "")
    if not text:
        return DEFAULT_LIMIT
    if not text.isdigit():
        raise FileError(f"BENANZA_AGENT_CACHE_BYTES is not a number of bytes: {text!r}")
    return int(text)


def size_of(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def make_room(cache, kept, needed, limit):
    """Removes the least recently used folders until `needed` bytes fit; `kept` stays."""
    found = []
    for name in os.listdir(cache):
        folder = os.path.join(cache, name)
        if re.fullmatch(r"[0-9a-f]{64}", name) and os.path.isdir(folder) and name != kept:
            try:
                found.append((os.path.getmtime(folder), size_of(folder), folder))
            except OSError:
                pass
    total = needed + sum(size for _, size, _ in found)
    for _, size, folder in sorted(found):
        if total <= limit:
            break
        shutil.rmtree(folder, ignore_errors=True)
        total -= size


def receive(path, size, digest, ask):
    """Writes the file that the parent sends in chunks. ask(sha256, offset, bytes) returns the next `file`
    message."""
    part = f"{path}.part{os.getpid()}"
    sum_, offset = hashlib.sha256(), 0
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(part, "wb") as file:
            while offset < size:
                want = min(CHUNK, size - offset)
                message = ask(digest, offset, want)
                if message.get("why"):
                    raise FileError(f"the model's file was not sent: {message['why']}")
                try:
                    data = base64.b64decode(message.get("data") or "", validate=True)
                except (binascii.Error, ValueError, TypeError):
                    raise FileError("a chunk of the model's file is not base64") from None
                if message.get("offset") != offset or not 0 < len(data) <= want:
                    raise FileError(
                        f"the chunk at {offset} of the model's file is wrong: offset "
                        f"{message.get('offset')}, {len(data)} bytes"
                    )
                file.write(data)
                sum_.update(data)
                offset += len(data)
        if sum_.hexdigest() != digest:
            raise FileError("the model's file differs from its SHA-256 after the transfer")
        os.replace(part, path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


def obtain(model, ask):
    """Returns the path of the model's file, with its external data in the same folder or below. `model`: key
    of the request."""
    digest, size = check_digest(model.get("sha256")), model.get("bytes")
    external = model.get("external") or []
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise FileError("the model's size is not a number of bytes")
    if not isinstance(external, list) or len(external) > 10000:
        raise FileError("external data is not a list of files")
    wanted = []
    for one in external:
        if not isinstance(one, dict) or not isinstance(one.get("bytes"), int) or one["bytes"] < 0:
            raise FileError("external data needs a name, its bytes and its sha256")
        wanted.append((check_name(one.get("name")), one["bytes"], check_digest(one.get("sha256"))))
    path = model.get("path")
    if isinstance(path, str) and path and "\0" not in path and is_file(path, size, digest):
        folder = os.path.dirname(os.path.abspath(path))
        if all(is_file(os.path.join(folder, name), bytes_, sum_) for name, bytes_, sum_ in wanted):
            return path
    return from_cache(digest, size, wanted, ask)


def from_cache(digest, size, external, ask):
    needed, limit = size + sum(bytes_ for _, bytes_, _ in external), cache_limit()
    if needed > limit:
        raise FileError(
            f"the model has {needed} bytes, more than the {limit} that the agent keeps "
            "(BENANZA_AGENT_CACHE_BYTES)"
        )
    cache = cache_folder()
    folder = os.path.join(cache, digest)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        make_room(cache, digest, needed, limit)
        os.utime(folder)
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}") from None
    for name, bytes_, sum_ in [("model.onnx", size, digest)] + external:
        path = os.path.join(folder, name)
        if not is_file(path, bytes_, sum_):
            receive(path, bytes_, sum_, ask)
    return os.path.join(folder, "model.onnx")
