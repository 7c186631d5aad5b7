"""The paper's passes on terms of the language of pullbacks: A-normal form (parts named), Jacobians, steps, claims."""
