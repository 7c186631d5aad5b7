"""The tests on every Python from 3.11 on that the machine has, on PATH or under pyenv: `make test-pythons`.

Each version has an environment of its own below `.venv`, made again when what it needs has changed. A table says how
many tests passed, failed and were skipped; the status is 1 where one fails, or where the counts differ.

    python -m tests.recorded_pythons [arguments of pytest]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".venv" / "pythons"
NEEDS = ("pyproject.toml", "constraints.txt")
OLDEST = (3, 11)
COUNTED = ("passed", "failed", "errors", "skipped")
TOLD = "import sys; print(*sys.version_info[:3])"


def found() -> Iterator[Path]:
    """Everything on PATH and under pyenv that has the name of a Python."""
    folders = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep) if name]
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    for folder in (*folders, *sorted(versions.glob("*/bin"))):
        yield from sorted(one for one in folder.glob("python3*") if re.fullmatch(r"python3(\.\d+)?", one.name))


def version(python: Path) -> tuple[int, ...]:
    """Its version; none where it does not run, as a shim of pyenv's for a version that is not chosen."""
    done = subprocess.run([python, "-c", TOLD], capture_output=True, text=True, check=False)  # noqa: S603
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()


def pythons() -> dict[tuple[int, ...], Path]:
    """Of each minor version the newest, by version."""
    newest: dict[tuple[int, ...], tuple[tuple[int, ...], Path]] = {}
    for python in found():
        number = version(python)
        if number >= OLDEST and number > newest.get(number[:2], ((), python))[0]:
            newest[number[:2]] = number, python
    return dict(sorted(newest.values()))


def environment(number: tuple[int, ...], python: Path) -> Path:
    """The Python of an environment with what the tests need."""
    place = PLACE / ".".join(map(str, number))
    ready, own = place / "ready", place / "bin" / "python"
    if not ready.exists() or any(ready.stat().st_mtime < (ROOT / name).stat().st_mtime for name in NEEDS):
        subprocess.run([python, "-m", "venv", "--clear", place], check=True)  # noqa: S603
        install = [str(own), "-m", "pip", "install", "-q", "-c", "constraints.txt", "-e", ".[dev]"]
        subprocess.run(install, cwd=ROOT, check=True)  # noqa: S603
        ready.touch()
    return own


def counts(python: Path, arguments: list[str]) -> list[int]:
    """How many tests pass, fail, raise errors and are skipped; what pytest says is shown as it is said."""
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or ["-n", "2"])]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    last = ""
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as running:  # noqa: S603
        for line in running.stdout or ():
            sys.stderr.write(line)
            last = line if line.strip() else last
    said = {name.rstrip("s"): int(count) for count, name in re.findall(r"(\d+) (\w+)", last.rpartition(" in ")[0])}
    return [said.get(name.rstrip("s"), 0) for name in COUNTED]


def main() -> None:
    """Run them, one after the other."""
    rows = dict[str, list[int]]()
    lines = [f"{'Python':10}{''.join(f'{name:>9}' for name in COUNTED)}{'seconds':>9}"]
    for number, python in pythons().items():
        name = ".".join(map(str, number))
        sys.stderr.write(f"Python {name}: {python}\n")
        own, start = environment(number, python), time.perf_counter()
        rows[name] = counts(own, sys.argv[1:])
        numbers = [*rows[name], round(time.perf_counter() - start)]
        lines.append(f"{name:10}{''.join(f'{one:9}' for one in numbers)}")
    sys.stdout.write("\n".join(lines) + "\n")
    is_right = all(passed and not failed and not errors for passed, failed, errors, _ in rows.values())
    sys.exit(not (is_right and len(set(map(tuple, rows.values()))) == 1))


if __name__ == "__main__":
    main()
