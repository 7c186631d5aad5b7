"""Functions as data: terms that users compose (`nodes`), the programs made of them (`lower`), lifting, comparison."""
