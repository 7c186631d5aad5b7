"""Time the library beside others (to be written)."""

if __name__ == "__main__":
    raise SystemExit("benchmarks/run.py is not written yet")
