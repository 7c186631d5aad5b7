"""The command: `python -m benchmarks.peers [row…] [--quick] [--rounds N] [--data DIR] [--json FILE]`."""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import os
from pathlib import Path

from benchmarks.peers import table
from benchmarks.peers.driver import Options, header, measured
from benchmarks.peers.rows import MODULES

DATA = "ADBENCH_DATA"


def main() -> None:
    """Measure rows, and print the lines of each and then the tables."""
    args = arguments()
    data = Path(args.data) if args.data else None
    core = max(os.sched_getaffinity(0)) if args.core is None else args.core
    rounds = args.rounds or (3 if args.quick else 12)
    longest = rounds if args.quick else args.longest or 3 * rounds
    options = Options(rounds, 0.01 if args.quick else 0.03, longest, data, core)
    found = header()
    day = dt.datetime.now(dt.UTC).date()
    print(f"{day}, processor time, least of {rounds} to {longest} turns on core {core}, one thread")
    print("\n".join(found))
    results = list[table.Result]()
    for module in MODULES:
        for row in importlib.import_module(module).ROWS:
            if not args.rows or any(row.name.startswith(name) or module.endswith(f".{name}") for name in args.rows):
                for who, names in row.missing().items():
                    if names:
                        print(f"{row.name}: {who} is left out, without {' and '.join(names)}")
                for result in measured(module, row, options):
                    results.append(result)
                    print("\n".join(table.detail(result)), flush=True)
                    if args.json:
                        Path(args.json).write_text(table.as_json(results, found), "utf-8")
    print("\n".join(table.tables(results)))


def arguments() -> argparse.Namespace:
    """The command line; a word that begins no row is an error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Time the library and its peers.")
    parser.add_argument("rows", nargs="*", metavar="row", help="beginnings of rows' names, or modules (default: all)")
    parser.add_argument("--quick", action="store_true", help="3 short turns")
    parser.add_argument("--rounds", type=int, help="turns of each formulation (default: 12)")
    parser.add_argument("--longest", type=int, help="most turns, if a run does not count (default: 3 times as many)")
    parser.add_argument("--data", default=os.environ.get(DATA), help=f"folder of ADBench's data (or {DATA})")
    parser.add_argument("--core", type=int, help="core that all run on (default: the last)")
    parser.add_argument("--json", help="file for all turns")
    args = parser.parse_args()
    known = [row.name for module in MODULES for row in importlib.import_module(module).ROWS]
    ends = {module.rpartition(".")[2] for module in MODULES}
    if lost := [word for word in args.rows if word not in ends and not any(n.startswith(word) for n in known)]:
        parser.error(f"no row begins with {', '.join(lost)}; there are: {', '.join(known)}")
    return args


if __name__ == "__main__":
    main()
