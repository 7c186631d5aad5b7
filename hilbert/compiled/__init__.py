"""Programs as machine code: a tree of loops over scalar statements, merged and printed as text of LLVM."""
