"""The direct method: states and their tangents in one integration."""
