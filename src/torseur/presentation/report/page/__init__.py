"""The page itself: content as frozen values, and its HTML."""
