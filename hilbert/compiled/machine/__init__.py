"""The machine: the tree as text of LLVM, its elementary functions, and the call of what is made of it."""
