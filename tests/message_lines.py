"""The lines of a message, for tests of what they say: operands that stand behind the carets are a line of their own."""

import re

BEHIND = re.compile(r"^( +\^+)  (\S.*)$", re.MULTILINE)


def apart(message: object) -> str:
    """The message with each list of operands on a line."""
    return BEHIND.sub(r"\1\n    \2", str(message))
