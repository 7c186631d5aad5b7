"""A line of steps: its operations, its constants, and the builder that appends one step after another."""
