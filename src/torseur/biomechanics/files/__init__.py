"""Files of motion capture: C3D, TRC, MOT and CSV."""

from torseur.biomechanics.files.c3d import read_c3d
from torseur.biomechanics.files.c3d_writing import plate_channels, write_c3d
from torseur.biomechanics.files.csv import read_csv, write_csv
from torseur.biomechanics.files.mot import MotTable, plates_from_mot, read_mot, write_forces_mot, write_mot
from torseur.biomechanics.files.plates import PlateSetup, plate_record, require_unsaturated
from torseur.biomechanics.files.read import read_motion
from torseur.biomechanics.files.trc import read_trc, write_trc

__all__ = [
    "MotTable",
    "PlateSetup",
    "plate_channels",
    "plate_record",
    "plates_from_mot",
    "read_c3d",
    "read_csv",
    "read_mot",
    "read_motion",
    "read_trc",
    "require_unsaturated",
    "write_c3d",
    "write_csv",
    "write_forces_mot",
    "write_mot",
    "write_trc",
]
