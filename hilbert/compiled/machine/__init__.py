"""Trees of loops as text of LLVM: scalar operations, elementary functions."""
