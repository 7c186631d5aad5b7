"""Linear systems on arrays: in full, by entries at known places, by blocks, by low rank."""
