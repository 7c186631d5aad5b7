"""Operations on vectors and expressions: reductions, products, convolutions, linear algebra."""
