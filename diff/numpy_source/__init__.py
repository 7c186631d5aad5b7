"""Modules of numpy made of programs: the text of each kind of step, of bodies and control flow, and the module."""
