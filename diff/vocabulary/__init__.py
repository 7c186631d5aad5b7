"""Operations on vectors and expressions: primitives, reductions, products, convolutions, linear algebra."""
