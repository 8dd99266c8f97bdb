"""One spinning top by every formalism: they must give the same equations."""

import torseur as ts
from torseur import library

print(ts.certify(library.load("spinning_top")))
