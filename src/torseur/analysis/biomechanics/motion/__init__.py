"""Motions of segments and joints from recorded markers."""
