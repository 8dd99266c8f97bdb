"""Programs and routines as LLVM assembly."""
