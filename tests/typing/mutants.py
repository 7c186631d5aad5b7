"""Break each typed model in turn: mypy must notice (to be written)."""

if __name__ == "__main__":
    raise SystemExit("tests/typing/mutants.py is not written yet")
