"""Control flow as single steps: loops, conditions, equations that define a result."""
