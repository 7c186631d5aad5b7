"""Values of terms of the λ-language, their translation into programs, and the Taylor macro."""
