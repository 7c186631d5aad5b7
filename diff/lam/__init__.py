"""The λ-language of functions of functions: terms, text, types, values, Taylor macro. Users import `diff.higher`."""
