"""Still pictures and files of a scene."""
