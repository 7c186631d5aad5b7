"""The pipeline of the notes: a Jacobian as a term of linear maps, and what is made of it, each stage a text."""
