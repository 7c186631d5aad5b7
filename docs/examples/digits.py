"""Train a classifier of handwritten digits (to be written)."""

if __name__ == "__main__":
    raise SystemExit("docs/examples/digits.py is not written yet")
