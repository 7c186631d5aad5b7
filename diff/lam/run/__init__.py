"""Values of terms of the λ-language, their translation into programs, and the macro of the Taylor paper."""
