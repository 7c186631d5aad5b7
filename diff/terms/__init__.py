"""Functions as data: terms that users compose (`nodes`), programs made of them (`lower`), derivatives in the point."""
