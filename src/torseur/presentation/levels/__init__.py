"""The equations at four levels of detail (intrinsic, recursive, matrix, scalar) and their spelling in each format."""
