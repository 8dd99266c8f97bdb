"""Files of motion capture: C3D, TRC, MOT and CSV."""

from torseur.analysis.biomechanics.files.c3d import read_c3d
from torseur.analysis.biomechanics.files.c3d_writing import plate_channels, write_c3d
from torseur.analysis.biomechanics.files.marker_csv import read_csv, write_csv
from torseur.analysis.biomechanics.files.opensim_files import (
    MotTable,
    plates_from_mot,
    read_mot,
    read_trc,
    write_forces_mot,
    write_mot,
    write_trc,
)
from torseur.analysis.biomechanics.files.plate_channels import PlateSetup, plate_record, require_unsaturated
from torseur.analysis.biomechanics.files.read_motion import read_motion

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
