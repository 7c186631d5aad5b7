"""Python functions on variants, lists and trees, differentiated; users import the names from `diff`."""
