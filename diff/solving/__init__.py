"""Linear systems whose matrix is a linear map: solved by the structure that its term proves."""
