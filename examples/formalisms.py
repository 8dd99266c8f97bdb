"""One spinning top by every formalism: they must give the same equations."""

from torseur import library
from torseur.derivation.formalisms import certify

print(certify(library.load("spinning_top")))
