"""Control flow as users write it: loops, conditions, lanes, fixed points and roots."""
