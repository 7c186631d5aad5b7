"""The paper's passes on terms of the language of pullbacks: A-normal form (all parts named), Jacobians, steps, claims."""
