"""From equations to numbers: generated code, motions, small motions."""
