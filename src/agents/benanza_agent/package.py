"""Facts about an installed Python package, without importing it."""

import importlib.metadata
import importlib.util
import os
import re
import sys

from .request import Unsupported


def version(*distributions):
    """Returns (version, name) of the first distribution that is installed; (None, "") if all are missing."""
    for name in distributions:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        if found:
            return found, name
    return None, ""


def folder(module):
    """Returns the folder of a package; "" if it is not installed."""
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return ""
    places = list(found.submodule_search_locations or []) if found else []
    return places[0] if places else ""


def libraries(module, *parts):
    """Returns the names of the files in a folder of a package."""
    try:
        return sorted(os.listdir(os.path.join(folder(module), *parts))) if folder(module) else []
    except OSError:
        return []


def at_least(found, least):
    """Returns True if version `found` is `least` or newer, by their leading numbers."""

    def numbers(text):
        return [int(n) for n in re.findall(r"\d+", text.split("+")[0])[:3]]

    return numbers(found) >= numbers(least)


def imported(name, advice=""):
    """Imports a module and returns it. Unsupported names the package to install, followed by `advice`."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        absent, python = error.name or "", sys.executable
        raise Unsupported(
            (f"{absent} is not installed for {python}: {python} -m pip install {absent}"
             if absent in (name, "numpy")
             else f"{name} cannot be imported by {python}: {error}") + advice
        ) from None  # fmt: skip


def check_version(name, found, least):
    """Returns a framework's version; Unsupported if it is older than `least`."""
    if not at_least(found, least):
        raise Unsupported(f"{name} {found} is too old: this agent needs {least} or later")
    return found
