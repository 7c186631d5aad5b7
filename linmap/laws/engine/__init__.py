"""Rewriting by laws: rules, the size that each rule must lower, terms and compositions while they are rewritten."""
