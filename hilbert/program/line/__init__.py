"""A line of steps: their operations (`step_operation` is the base class), its constants, and its builder."""
