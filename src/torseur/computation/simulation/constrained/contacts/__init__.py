"""Contacts that open and close."""
