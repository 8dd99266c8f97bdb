"""Scenes: how a mechanism looks and where its parts are, apart from any page."""
