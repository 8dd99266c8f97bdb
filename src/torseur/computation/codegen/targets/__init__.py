"""The languages: a folder each."""
