"""C3D files: what is written is read again, plates are where forces put them, and lies are named."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from analysis.biomechanics import walking
from torseur.analysis.biomechanics import Axes, Markers, MotionTrial, read_c3d, read_motion, write_c3d
from torseur.analysis.biomechanics.files import PlateSetup, plate_channels, plate_record
from torseur.analysis.biomechanics.files.c3d_format import open_c3d
from torseur.analysis.biomechanics.files.plate_channels import wrench_of
from torseur.errors import RecordingError

ezc3d = pytest.importorskip("ezc3d")


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    return write_c3d(tmp_path / "walk.c3d", *walking.trial())


def changed(path: Path, **parameters) -> Path:
    """The file with other parameters, GROUP__NAME=value, written by ezc3d itself."""
    content = ezc3d.c3d(str(path))
    for key, value in parameters.items():
        group, name = key.split("__")
        content["parameters"][group][name]["value"] = value
    content.write(str(path))
    return path


def test_a_walk_is_read_as_it_was_written(walk):
    read, written = read_c3d(walk), walking.markers()
    assert read.markers.labels == written.labels
    assert read.markers.axes == Axes(z="up")
    assert np.allclose(read.markers.time, written.time)
    assert read.markers.gaps() == written.gaps()
    assert np.nanmax(np.abs(read.markers.positions - written.positions)) < 1e-6  # single precision in mm
    assert read.analog.labels[0] == "EMG1" and read.analog.units[0] == "V"
    assert np.allclose(read.analog.time, walking.analog_time())
    assert "positions in m, z up" in str(read)


def test_plates_give_back_the_steps(walk):
    """Oracle: the forces, centres of pressure and free moments the channels were made of."""
    read = read_c3d(walk)
    for plate, (force, place, torque) in zip(read.plates, walking.steps(), strict=True):
        assert np.allclose(plate.force, force, atol=1e-3)
        assert np.allclose(plate.moment_about_origin, np.cross(place, force) + torque, atol=1e-3)
        loaded = np.abs(force[:, 2]) > 10.01
        assert np.abs(plate.centre_of_pressure - place)[loaded].max() < 1e-5
        assert np.allclose(plate.free_moment()[loaded], torque[loaded], atol=1e-3)
        assert np.isnan(plate.centre_of_pressure[np.abs(force[:, 2]) < 9.99]).all()
        assert not plate.saturated.any() and not plate.notes


def test_plates_as_ezc3d_transforms_them(tmp_path):
    """Oracle: ezc3d's own force plates, types 2 to 4, turned and moved; of type 1 its force and centre of pressure."""
    rng = np.random.default_rng(0)
    base, samples = walking.corners(0.0), walking.FRAMES * walking.PER_FRAME
    c, s = np.cos(0.3), np.sin(0.3)
    turned = base @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + [1, 0, 0.1]
    setups = [
        PlateSetup("a", 2, turned, np.array([0.01, 0.02, -0.04])),
        PlateSetup("b", 3, base, np.array([0.12, 0.2, -0.03])),
        PlateSetup("c", 4, base + np.array([0, 3, 0]), np.array([0, 0, -0.04]), rng.normal(size=(6, 6))),
        PlateSetup("d", 1, turned, np.zeros(3)),
    ]
    channels = [200 * rng.normal(size=(samples, {3: 8}.get(setup.kind, 6))) for setup in setups]
    channels[3][:, 3:5] *= 1e-3
    path = write_c3d(tmp_path / "plates.c3d", MotionTrial(walking.markers()), setups, channels)
    theirs = ezc3d.c3d(str(path), extract_forceplat_data=True)["data"]["platform"]
    for setup, ours, other in zip(setups, read_c3d(path).plates, theirs, strict=True):
        assert np.allclose(ours.force, other["force"].T, atol=1e-9)
        pressed = np.isfinite(ours.centre_of_pressure)
        assert np.allclose(ours.centre_of_pressure[pressed], other["center_of_pressure"].T[pressed] / 1e3, atol=1e-9)
        if setup.kind != 1:  # there its moment is opposite to that of its own force at its own centre of pressure
            assert np.allclose(ours.moment_about(ours.corners.mean(axis=0)), other["moment"].T / 1e3, atol=1e-9)


def test_a_cut_file_lies_about_its_size(walk):
    """ezc3d reads it without a word, with fewer frames."""
    whole = walk.read_bytes()
    claim = open_c3d(walk).claim
    assert (claim.frames, claim.points, claim.analog) == (120, 12, 130)
    walk.write_bytes(whole[: claim.start + 70 * claim.frame_bytes + 3])
    assert ezc3d.c3d(str(walk))["data"]["points"].shape[2] < 120
    with pytest.raises(
        RecordingError, match=r"'.*walk.c3d' lies about its size: .* 120 frames of 12 points .* 70 whole frames"
    ):
        read_c3d(walk)


@pytest.mark.parametrize(("word", "value"), [(1, 11), (2, 260), (4, 60)])
def test_a_header_that_contradicts_the_data(walk, word, value):
    content = bytearray(walk.read_bytes())
    content[2 * word : 2 * word + 2] = struct.pack("<H", value)
    walk.write_bytes(bytes(content))
    with pytest.raises(RecordingError, match="lies about its size"):
        read_c3d(walk)


@pytest.mark.parametrize(("content", "message"), [
    (b"not a c3d file at all" * 100, "is not a C3D file: its first block"),
    (b"", "is not a C3D file"),
    (b"\x02\x50" + b"\x00" * 3000, "is not a C3D file: its parameters are not where its header says"),
])  # fmt: skip
def test_what_is_no_c3d(tmp_path, content, message):
    path = tmp_path / "junk.c3d"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=message):
        read_c3d(path)
    with pytest.raises(RecordingError, match="there is no file"):
        read_c3d(tmp_path / "absent.c3d")


def test_metres_read_as_millimetres_are_noticed(walk):
    with pytest.raises(
        RecordingError, match=r"markers lie within 1\.\d* km|millimetres read as metres\? Read it in mm"
    ):
        read_c3d(walk, unit="m")
    metres = changed(walk, POINT__UNITS=["m"])
    with pytest.raises(RecordingError, match="read in m as it says.*millimetres read as metres"):
        read_c3d(metres)
    assert read_c3d(metres, unit="mm").markers.rate == pytest.approx(100)
    positions = walking.markers().positions * 1e-3
    tiny = MotionTrial(Markers(walking.markers().time, walking.LABELS, positions))
    small = write_c3d(walk.with_name("small.c3d"), tiny)
    with pytest.raises(RecordingError, match=r"markers lie within 1\.\d+ mm: metres read as millimetres\? .*--unit m,"):
        read_c3d(small)
    assert np.allclose(
        np.nanmax(np.abs(read_c3d(small, unit="m").markers.positions - walking.markers().positions)), 0, atol=1e-6
    )
    assert read_c3d(small, any_size=True).markers.labels == walking.LABELS


def test_units_must_be_stated(walk):
    guessed = read_c3d(changed(walk, POINT__UNITS=[""]))
    assert "does not say the unit of its points: taken as mm" in guessed.notes[0]
    assert np.allclose(guessed.markers.positions, read_c3d(walk).markers.positions, equal_nan=True)
    units = ["V"] + ["N"] * 12
    fewer = read_c3d(changed(walk, POINT__UNITS=["mm"], ANALOG__UNITS=units))
    assert not fewer.plates and "channel 'FP1.M4': the unit N is that of a force, expected a" in fewer.notes[0]
    silent = read_c3d(changed(walk, ANALOG__UNITS=[""] * 13))
    assert "no unit stated for FP1.F1" in silent.plates[0].notes[0]


def test_saturated_plates_are_marked_and_noted(tmp_path):
    recording, setups, channels = walking.trial()
    channels[0][:, 2] = np.maximum(channels[0][:, 2], -500.0)
    read = read_c3d(write_c3d(tmp_path / "walk.c3d", recording, setups, channels))
    expected = channels[0][:, 2] <= -500.0
    assert np.array_equal(read.plates[0].saturated, expected)
    assert "saturated: a channel stands at its limit in" in read.plates[0].notes[0]
    assert not read.plates[1].saturated.any()
    from torseur.analysis.biomechanics.files import require_unsaturated

    require_unsaturated(read.plates[1:])
    with pytest.raises(RecordingError, match="plate 'plate 1' is saturated in"):
        require_unsaturated(read.plates)


def test_plates_that_pull_down_are_noted(tmp_path):
    recording, setups, channels = walking.trial()
    read = read_c3d(write_c3d(tmp_path / "walk.c3d", recording, setups, [-channel for channel in channels]))
    assert "pulls the person down" in read.plates[0].notes[0]
    assert np.median(read.plates[0].opposite().force[200:500, 2]) > 0


def test_baseline_is_taken_off_where_the_file_asks(tmp_path):
    recording, setups, channels = walking.trial()
    path = write_c3d(tmp_path / "walk.c3d", recording, setups, [channel + 7.0 for channel in channels])
    read = read_c3d(changed(path, FORCE_PLATFORM__ZERO=np.array([1, 90])))
    assert np.allclose(read.plates[0].force, walking.steps()[0][0], atol=1e-3)
    assert "mean of samples 0 to 89 taken off" in read.plates[0].notes[0]


def test_results_among_the_points_are_left_out(walk):
    content = ezc3d.c3d(str(walk))
    content.add_parameter("POINT", "ANGLES", ["C7", "CLAV"])
    content.write(str(walk))
    read = read_c3d(walk)
    assert read.markers.labels == walking.LABELS[:10]
    assert read.markers.notes == ("left out, being results and no markers: C7, CLAV",)


def test_points_at_the_origin_are_gaps(tmp_path):
    positions = walking.markers().positions.copy()
    positions[5:9, 0] = 0.0
    recording = MotionTrial(Markers(walking.markers().time, walking.LABELS, positions))
    read = read_c3d(write_c3d(tmp_path / "walk.c3d", recording))
    assert [(g.first, g.last) for g in read.markers.gaps() if g.label == "LASI"] == [(5, 8)]
    assert read.markers.notes == ("exactly at the origin in some frames, taken as gaps: LASI",)


@pytest.mark.parametrize(("parameters", "message"), [
    ({"FORCE_PLATFORM__TYPE": np.array([7, 2])}, "plate 'plate 1' is of type 7: types 1, 2, 3, 4 are read"),
    ({"FORCE_PLATFORM__CHANNEL": np.full((6, 2), 99)}, "plate 1 uses channel 99, the file has 13"),
    ({"FORCE_PLATFORM__ORIGIN": np.zeros((3, 1))}, "ORIGIN says nothing of plate 2"),
    ({"FORCE_PLATFORM__TYPE": np.array([4, 4])}, "of type 4 has no calibration matrix"),
    ({"FORCE_PLATFORM__ZERO": np.array([1, 9999])}, "ZERO names sample 9999 of 1200"),
])  # fmt: skip
def test_plates_that_cannot_be_read(walk, parameters, message):
    """They are left out with the reason; the markers are as good as ever."""
    read = read_c3d(changed(walk, **parameters))
    assert len(read.plates) < 2 and read.markers.labels == walking.LABELS
    assert any("is left out" in note and message in note for note in read.notes)


def test_rates_stand_in_the_header_too(walk):
    """Oracle: the same file with its rates among the parameters."""
    plain = read_c3d(walk)
    for name in ("POINT", "ANALOG"):
        content = walk.read_bytes()
        place = content.index(name.encode() + b"\x00" if name == "none" else b"RATE", content.index(name.encode()))
        file = walk.with_name(f"{name}.c3d")
        file.write_bytes(content[:place] + b"RATX" + content[place + 4 :])
        read = read_c3d(file)
        assert np.allclose(read.markers.time, plain.markers.time)
        assert np.allclose(read.plates[0].time, plain.plates[0].time)


def test_a_plate_with_impossible_corners_is_left_out(walk):
    corners = ezc3d.c3d(str(walk))["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"].copy()
    corners[:, :, 0] = 0.0
    read = read_c3d(changed(walk, FORCE_PLATFORM__CORNERS=corners))
    assert [plate.name for plate in read.plates] == ["plate 2"]
    assert read.notes == ("plate 1 is left out: plate 'plate 1': its corners do not span an area.",)
    assert read.markers.labels == walking.LABELS


def test_plates_without_markers_are_read(tmp_path):
    """What a plate recorded by itself: no points, ten values per frame."""
    whole, setups, channels = walking.trial()
    path = write_c3d(tmp_path / "walk.c3d", whole, setups, channels)
    content = ezc3d.c3d(str(path))
    content["data"]["points"] = content["data"]["points"][:, :0]
    for name in ("residuals", "camera_masks"):
        content["data"]["meta_points"][name] = content["data"]["meta_points"][name][:, :0]
    content["parameters"]["POINT"]["USED"]["value"] = [0]
    for name in ("LABELS", "DESCRIPTIONS"):
        if name in content["parameters"]["POINT"]:
            content["parameters"]["POINT"][name]["value"] = []
    content.write(str(path))
    read = read_motion(path)
    assert read.markers.labels == () and len(read.plates) == 2
    assert np.allclose(read.plates[0].force, walking.steps()[0][0], atol=1e-3)


def test_events_of_the_file_are_read(walk):
    content = ezc3d.c3d(str(walk))
    content.add_parameter("EVENT", "USED", [2])
    content.add_parameter("EVENT", "LABELS", ["Foot Off", "Foot Strike"])
    content.add_parameter("EVENT", "CONTEXTS", ["Left", "Right"])
    content.add_parameter("EVENT", "TIMES", np.array([[0.0, 0.0], [0.9, 0.25]]))
    content.write(str(walk))
    events = read_motion(walk).events
    assert [(e.context, e.label) for e in events] == [("Right", "Foot Strike"), ("Left", "Foot Off")]
    assert [e.time for e in events] == pytest.approx([0.25, 0.9])


def test_results_are_known_by_their_group(walk):
    """A subject's name before the labels, and none in the group that lists the modelled points."""
    labels = [f"Anna:{label}" for label in walking.LABELS]
    content = ezc3d.c3d(str(walk))
    content["parameters"]["POINT"]["LABELS"]["value"] = labels
    content.add_parameter("POINT", "MODELED_MARKERS", ["CLAV"])
    content.write(str(walk))
    read = read_motion(walk).markers
    assert read.labels == walking.LABELS[:-1]
    assert "the prefix 'Anna:' of labels is left out" in read.notes


def test_own_plates_are_written_again(walk, tmp_path):
    first = read_c3d(walk)
    again = read_motion(write_c3d(tmp_path / "again.c3d", MotionTrial(first.markers, first.plates)))
    for a, b in zip(first.plates, again.plates, strict=True):
        assert np.allclose(a.force, b.force, atol=1e-3) and np.allclose(
            a.moment_about_origin, b.moment_about_origin, atol=1e-3
        )


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_a_plate_anywhere_gives_back_the_force(seed):
    """Any force, moment and place of a plate of type 2 come back from its channels."""
    rng = np.random.default_rng(seed)
    R = Rotation.random(random_state=seed).as_matrix()
    setup = PlateSetup("p", 2, walking.corners(0.0) @ R.T + rng.normal(size=3), np.array([0.01, -0.02, -0.05]))
    force, moment = 500 * rng.normal(size=(5, 3)), 300 * rng.normal(size=(5, 3))
    record = plate_record(setup, np.arange(5) / 10, plate_channels(setup, force, moment), least_force=1e-9)
    assert np.allclose(record.force, force) and np.allclose(record.moment_about_origin, moment)
    assert np.allclose(record.centre_of_pressure, record.pressure_points(), atol=1e-6)
    normal = setup.rotation[:, 2]
    assert np.allclose(np.cross(record.free_moment(), normal), 0, atol=1e-6)


def test_type_one_and_three_by_summing_forces():
    """Oracle: moments of forces at their places, added up. Columns at (±a, ±b), centre of pressure on the surface."""
    rng = np.random.default_rng(1)
    a, b, depth = 0.12, 0.2, -0.05
    columns = np.array([[a, b, -depth], [-a, b, -depth], [-a, -b, -depth], [a, -b, -depth]])
    shear, normal = 50 * rng.normal(size=(2, 2)), -200 * rng.random(4)
    forces = np.column_stack([
        [shear[0, 0] / 2] * 2 + [shear[0, 1] / 2] * 2,
        [shear[1, 0] / 2, shear[1, 1] / 2, shear[1, 1] / 2, shear[1, 0] / 2],
        normal,
    ])  # fmt: skip
    channels = np.array([[*shear[0], *shear[1], *normal]])
    force, moment = wrench_of(3, channels, np.array([a, b, depth]))
    assert np.allclose(force, forces.sum(axis=0))
    assert np.allclose(moment, np.cross(columns, forces).sum(axis=0))
    pressed = np.array([[10.0, 20.0, -600.0, 0.05, -0.1, 3.0]])
    force, moment = wrench_of(1, pressed, np.zeros(3))
    assert np.allclose(moment, np.cross([0.05, -0.1, 0], force) + np.array([0, 0, 3.0]))


@pytest.mark.parametrize(("processor", "order", "scale", "width"), [
    (84, "<", struct.pack("<f", -1.0), 4), (84, "<", struct.pack("<f", 0.1), 2), (86, ">", struct.pack(">f", -1.0), 4),
    (86, ">", struct.pack(">f", 0.1), 2), (85, "<", b"\x80\xc0\x00\x00", 4), (85, "<", b"\xcc\x3e\xcd\xcc", 2),
])  # fmt: skip
def test_headers_of_every_processor(tmp_path, processor, order, scale, width):
    """Frames, points and the width of numbers by the format's description; DEC floats swap their halves."""
    header = bytearray(512)
    header[:2] = b"\x02\x50"
    header[2:12] = struct.pack(order + "5H", 40, 60, 1, 250, 10)
    header[12:16] = scale
    header[16:20] = struct.pack(order + "2H", 4, 10)
    path = tmp_path / "h.c3d"
    path.write_bytes(bytes(header) + bytes([1, 0x50, 3, processor]) + bytes(1020))
    claim = open_c3d(path).claim
    assert (claim.frames, claim.points, claim.analog, claim.start, claim.width) == (250, 40, 60, 1536, width)
    assert claim.bytes == 1536 + 250 * width * (4 * 40 + 60)
    with pytest.raises(RecordingError, match="lies about its size: its header counts 250 frames"):
        read_c3d(path)


def test_points_without_a_label_of_their_own_are_kept_and_noted(walk):
    content = walk.read_bytes()
    walk.write_bytes(content.replace(b"RASI", b"LASI").replace(b"LPSI", b"    "))
    read = read_c3d(walk)
    assert read.markers.labels[:4] == ("LASI", "LASI (2)", "unlabelled 3", "RPSI")
    assert read.markers.notes == ("points without a label of their own, named here: LASI (2), unlabelled 3",)


def test_parameters_that_contradict_the_header(walk):
    """ezc3d believes POINT:FRAMES and drops the rest without a word."""
    content = bytearray(walk.read_bytes())
    place = content.index(b"FRAMES") + 10
    assert struct.unpack("<h", content[place : place + 2]) == (120,)
    content[place : place + 2] = struct.pack("<h", 60)
    walk.write_bytes(bytes(content))
    assert ezc3d.c3d(str(walk))["data"]["points"].shape[2] == 60
    with pytest.raises(RecordingError, match="lies about its size: 120 frames by the header, but it holds 60"):
        read_c3d(walk)


def test_every_value_is_what_ezc3d_reads(walk):
    """Oracle: ezc3d's own reading of the points, their residuals, the analog values and all parameters."""
    theirs, ours = ezc3d.c3d(str(walk)), open_c3d(walk)
    frames = ours.frames(120)
    points = np.moveaxis(theirs["data"]["points"][:3], 0, 2).swapaxes(0, 1)
    assert np.allclose(points[frames.seen], frames.points[frames.seen], atol=1e-9)
    assert np.array_equal(theirs["data"]["meta_points"]["residuals"][0].T >= 0, frames.seen)
    assert np.allclose(theirs["data"]["analogs"][0].T, frames.analog, rtol=1e-6)
    compared = 0
    for group, listed in ours.groups.items():
        for name, value in listed.items():
            other = theirs["parameters"][group][name]["value"]
            if isinstance(value, list):
                assert [text.rstrip() for text in other] == value, (group, name)
            else:
                assert np.allclose(np.asarray(other, dtype=float).reshape(-1), value.reshape(-1)), (group, name)
                assert np.shape(other) == value.shape or value.size == 1, (group, name)
            compared += 1
    assert compared > 25


def as_float(value, processor):
    """Four bytes of a number, by the description of each processor's format."""
    if processor == 86:
        return struct.pack(">f", value)
    if processor == 84:
        return struct.pack("<f", value)
    swapped = struct.pack("<f", 4.0 * value)
    return swapped[2:] + swapped[:2]


def made_file(processor, is_float, frames=7, points=3, channels=2, per_frame=4, unsigned=False):
    """A small file put together from the description of the format, and the numbers it stands for."""
    order, rng = ">" if processor == 86 else "<", np.random.default_rng(processor)
    word = lambda x: struct.pack(f"{order}{'H' if x > 32767 else 'h'}", x)  # noqa: E731
    number = (lambda x: as_float(float(x), processor)) if is_float else word
    scale = -1.0 if is_float else 0.25
    stored = rng.integers(-2000, 2000, size=(frames, points, 3))
    seen = rng.random((frames, points)) > 0.2
    raw = (
        rng.integers(0, 60000, size=(frames * per_frame, channels))
        if unsigned
        else rng.integers(-30000, 30000, size=(frames * per_frame, channels))
    )
    offsets, scales, general = [10, -20], [0.5, 2.0], 0.125
    records = b""

    def record(name, group, body):
        nonlocal records
        head = struct.pack("bb", len(name), group) + name.encode()
        records += head + struct.pack(f"{order}H", 2 + len(body)) + body

    def parameter(name, group, kind, sizes, raw):
        record(name, group, struct.pack("bB", kind, len(sizes)) + bytes(sizes) + raw + b"\0")

    parameter("USED", 1, 2, (), word(points))  # before its group
    record("POINT", -1, b"\0")
    record("ANALOG", -2, b"\0")
    parameter("RATE", 1, 4, (1,), as_float(50.0, processor))
    parameter("LABELS", 1, -1, (4, points), b"".join(f"P{k}  ".encode() for k in range(points)))
    parameter("UNITS", 1, -1, (2,), b"mm")
    parameter("FRAMES", 1, 2, (), word(frames))
    parameter("SCALE", 1, 4, (), as_float(scale, processor))
    parameter("DATA_START", 1, 2, (), word(4))
    parameter("USED", 2, 2, (), word(channels))
    parameter("RATE", 2, 4, (), as_float(200.0, processor))
    parameter("LABELS", 2, -1, (2, channels), b"A1A2")
    parameter("UNITS", 2, -1, (1, channels), b"VV")
    parameter("OFFSET", 2, 2, (channels,), b"".join(map(word, offsets)))
    parameter("SCALE", 2, 4, (channels,), b"".join(as_float(x, processor) for x in scales))
    parameter("GEN_SCALE", 2, 4, (), as_float(general, processor))
    parameter("FORMAT", 2, -1, (8,), b"UNSIGNED" if unsigned else b"SIGNED  ")
    assert len(records) < 1020
    header = bytearray(512)
    header[:2] = b"\x02\x50"
    header[2:12] = struct.pack(f"{order}5H", points, channels * per_frame, 1, frames, 0)
    header[12:16] = as_float(scale, processor)
    header[16:20] = struct.pack(f"{order}2H", 4, per_frame)
    header[20:24] = as_float(50.0, processor)
    data = b""
    for f in range(frames):
        for p in range(points):
            data += b"".join(map(number, [*map(int, stored[f, p]), 0 if seen[f, p] else -1]))
        data += b"".join(map(number, map(int, raw[f * per_frame : (f + 1) * per_frame].ravel())))
    content = bytes(header) + (bytes([1, 0x50, 2, processor]) + records).ljust(1024, b"\0") + data
    places = np.where(seen[..., None], stored * (1.0 if is_float else scale), np.nan)
    return content, places * 1e-3, (raw - np.array(offsets)) * np.array(scales) * general


@pytest.mark.parametrize("processor", [84, 85, 86])
@pytest.mark.parametrize("numbers", ["floating point", "integers", "unsigned integers"])
def test_files_of_every_processor(tmp_path, processor, numbers):
    """Oracle: the numbers that a file was put together from by the description of the format."""
    unsigned = numbers.startswith("unsigned")
    content, places, analog = made_file(processor, numbers == "floating point", unsigned=unsigned)
    (tmp_path / "made.c3d").write_bytes(content)
    read = read_c3d(tmp_path / "made.c3d")
    assert np.allclose(read.markers.positions, places, equal_nan=True, rtol=1e-6)
    assert np.allclose(read.analog.values, analog, rtol=1e-6)
    assert read.markers.labels == ("P0", "P1", "P2") and read.analog.labels == ("A1", "A2")
    assert np.allclose(read.markers.time, np.arange(7) / 50) and np.allclose(read.analog.time, np.arange(28) / 200)
