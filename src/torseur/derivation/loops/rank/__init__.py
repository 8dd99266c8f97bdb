"""The rank of the closures on the closed configurations: in floats, many digits, finite fields, exact algebra."""
