"""A linear map as a network of factors with labelled axes: from a net, contracted in cheap order, made an array."""
