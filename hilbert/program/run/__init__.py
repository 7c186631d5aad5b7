"""Running a line: steps are fused, folded, ordered and bound to an array library once, then called."""
