"""Running a line: steps are fused, constants computed once, calls ordered and bound to an array library, then run."""
