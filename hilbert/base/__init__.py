"""The ground floor: terms and their equality, attaching and loading on demand, sizes, and numpy's names in messages."""
