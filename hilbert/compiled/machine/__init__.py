"""The machine: the tree as text of LLVM, its elementary functions, and the call of the code that is made of it."""
