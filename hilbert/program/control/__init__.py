"""Control flow as single steps: loops, conditions, equations that define a result (`flows` has the union of them)."""
