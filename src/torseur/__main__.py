"""The command line as `python -m torseur`, where the program `torseur` is not on the path."""

from torseur.cli import main

if __name__ == "__main__":
    main()
