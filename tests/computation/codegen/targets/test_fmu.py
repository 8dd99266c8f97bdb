"""FMUs: accepted by FMPy's validator, simulated by FMPy, and moving as `simulate` and closed forms say."""

from __future__ import annotations

import ctypes
import math
import shutil
import zipfile

import numpy as np
import pytest

import torseur as ts
from computation.codegen.targets.runners import run
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.computation.codegen.targets.fmu import fmu_archive as archive
from torseur.computation.simulation.fmu import fmu_model, write_fmu
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError

fmpy = pytest.importorskip("fmpy", reason="fmpy is not installed")

DRIVEN = """param m = 2 kg ;
let block = body mass = m, centre = [0, 0, 0], inertia = diag(1 kg*m^2, 1 kg*m^2, 1 kg*m^2) end ;
join earth and block.frame with prismatic(x) force = push(t) end ;
law push(t) in N "force of the motor" ;"""


@pytest.fixture(autouse=True)
def needs_compiler():
    if find_compiler() is None:
        pytest.skip("no C compiler is installed")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """FMUs by mechanism, each written once."""
    folder, paths = tmp_path_factory.mktemp("fmu"), {}

    def make(name):
        if name not in paths:
            equations = ts.derive(library.load(name) if name != "driven" else ts.parse(DRIVEN))
            paths[name] = equations, str(folder / f"{name}.fmu")
            write_fmu(equations, paths[name][1], outputs=["kinetic_energy"] if name == "double_pendulum" else [])
        return paths[name]

    return make


def simulated(path, kind, until, points=11, **options):
    return fmpy.simulate_fmu(path, fmi_type=kind, stop_time=until, output_interval=until / (points - 1), **options)


def farthest(result, motion):
    """Largest difference over all columns and times."""
    assert np.allclose(result["time"], motion.time, atol=1e-12)
    return max(np.abs(result[column.name] - motion[column.name]).max() for column in motion.columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "free_body", "driven", "puma560"])
def test_validator_finds_nothing(name, made):
    from fmpy.validation import validate_fmu

    assert validate_fmu(made(name)[1]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "free_body", "slider_crank", "puma560"])
def test_co_simulation(name, made):
    """Oracle: `simulate`, whose own motions are compared with references elsewhere; 1e-8."""
    equations, path = made(name)
    outputs = ["kinetic_energy"] if name == "double_pendulum" else []
    motion = ts.simulate(equations, 1.0, samples=11, rtol=1e-12, outputs=outputs)
    assert farthest(simulated(path, "CoSimulation", 1.0), motion) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "free_body", "four_bar"])
def test_model_exchange(name, made):
    """The same by FMPy's own integrator (CVODE), which only takes derivatives from the FMU."""
    equations, path = made(name)
    motion = ts.simulate(equations, 0.5, samples=11, rtol=1e-12)
    found = simulated(path, "ModelExchange", 0.5, relative_tolerance=1e-12)
    assert farthest(found, motion) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_undetermined_functions_are_inputs(kind, made):
    """Oracle: x = F t² / (2 m)."""
    _, path = made("driven")
    force = np.array([(0.0, 3.0), (1.0, 3.0)], dtype=[("time", float), ("push", float)])
    found = simulated(path, kind, 1.0, input=force, start_values={"m": 1.5}, relative_tolerance=1e-10)
    assert np.allclose(found["x"], 3.0 * found["time"] ** 2 / 3.0, atol=1e-9)


@pytest.mark.slow
def test_variables_have_units_and_meanings(made):
    description = fmpy.read_model_description(made("driven")[1])
    variables = {v.name: v for v in description.modelVariables}
    assert [(v.causality, v.unit) for v in (variables["x"], variables["m"], variables["push"])] == [
        ("output", "m"), ("parameter", "kg"), ("input", "N"),
    ]  # fmt: skip
    assert variables["push"].description == "force of the motor"
    assert variables["der(x')"].unit == "m/s^2" and variables["der(x')"].derivative is variables["x'"]
    (newton,) = [unit for unit in description.unitDefinitions if unit.name == "N"]
    assert (newton.baseUnit.kg, newton.baseUnit.m, newton.baseUnit.s) == (1, 1, -2)


@pytest.fixture
def instance(made, tmp_path):
    """A running FMU of the double pendulum, and references of its variables."""
    path = made("double_pendulum")[1]
    description = fmpy.read_model_description(path)
    folder = fmpy.extract(path, unzipdir=str(tmp_path))
    from fmpy.fmi2 import FMU2Slave

    def make(name):
        fmu = FMU2Slave(
            guid=description.guid, unzipDirectory=folder, modelIdentifier="double_pendulum", instanceName=name
        )
        fmu.instantiate()
        fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        return fmu

    return make, {v.name: v.valueReference for v in description.modelVariables}


@pytest.mark.slow
def test_instances_do_not_know_of_each_other(instance):
    make, places = instance
    first, second = make("first"), make("second")
    first.doStep(0.0, 0.1)
    second.setReal([places["m1"]], [40.0])
    before = second.getReal([places["q1"]])
    first.doStep(0.1, 0.1)
    assert second.getReal([places["q1"]]) == before
    assert first.getReal([places["m1"]]) == [4.0]
    for fmu in (first, second):
        fmu.terminate()
        fmu.freeInstance()


@pytest.mark.slow
def test_states_are_kept_and_restored(instance):
    make, places = instance
    fmu = make("pendulum")
    fmu.doStep(0.0, 0.1)
    kept = fmu.getFMUState()
    bytes_of_it = fmu.serializeFMUState(kept)
    fmu.doStep(0.1, 0.1)
    once = fmu.getReal(list(places.values()))
    for state in (kept, fmu.deserializeFMUState(bytes_of_it)):
        fmu.setFMUState(state)
        fmu.doStep(0.1, 0.1)
        assert fmu.getReal(list(places.values())) == once
    fmu.reset()
    assert fmu.getReal([places["q1"]]) == [pytest.approx(math.pi / 4)]


@pytest.mark.slow
def test_faults_are_told(instance):
    make, places = instance
    fmu = make("pendulum")
    with pytest.raises(Exception, match="fmi2SetReal"):
        fmu.setReal([places["der(q1)"]], [1.0])
    with pytest.raises(Exception, match="fmi2GetReal"):
        fmu.getReal([999])
    fmu.setReal([places["r2"]], [math.nan])
    with pytest.raises(Exception, match="fmi2DoStep"):
        fmu.doStep(0.0, 0.1)


@pytest.mark.slow
def test_sources_compile_without_warnings(made, tmp_path):
    with zipfile.ZipFile(made("four_bar")[1]) as file:
        file.extractall(tmp_path)
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-function", "-Wno-unused-parameter"]
    strict += ["-Wno-unused-but-set-variable", "-Wno-unused-variable"]
    for compiler in filter(None, (find_compiler().path, shutil.which("clang"))):
        run(compiler, *strict, "-c", "fmi2.c", "task.c", cwd=tmp_path / "sources")


@pytest.mark.slow
def test_a_prefix_for_static_linking(made, tmp_path):
    with zipfile.ZipFile(made("driven")[1]) as file:
        file.extractall(tmp_path)
    sources = tmp_path / "sources"
    flags = ["-DFMI2_FUNCTION_PREFIX=driven_", "-shared", "-fPIC"]
    run(find_compiler().path, *flags, "fmi2.c", "task.c", "-o", "static.so", "-lm", cwd=sources)
    version = ctypes.CDLL(str(sources / "static.so")).driven_fmi2GetVersion
    version.restype = ctypes.c_char_p
    assert version() == b"2.0"


@pytest.mark.slow
def test_the_same_model_is_the_same_file(made, tmp_path):
    equations, path = made("driven")
    write_fmu(equations, tmp_path / "again.fmu")
    with zipfile.ZipFile(path) as first, zipfile.ZipFile(tmp_path / "again.fmu") as second:
        assert first.namelist() == second.namelist()
        names = [name for name in first.namelist() if not name.startswith("binaries")]
        assert all(first.read(name) == second.read(name) for name in names)


@pytest.mark.slow
def test_without_a_compiler_there_are_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "find_compiler", lambda: None)
    path = tmp_path / "x.fmu"
    assert write_fmu(ts.parse(DRIVEN), path).platform is None
    names = zipfile.ZipFile(path).namelist()
    assert {"sources/fmi2.c", "sources/task.c", "modelDescription.xml"} < set(names)
    assert not any(name.startswith("binaries") for name in names)


HOSTILE = ['x"/><evil a="', "]]>", "&lt;", "a\nb\t\r", "\0\x07", "*/ system(1); /*", "été", "' onload='", "\ud800", ""]


@pytest.mark.slow
def test_hostile_names(tmp_path):
    """Parameters, laws and the mechanism itself have hostile names; the description stays what it is."""
    from dataclasses import replace

    from fmpy.validation import validate_fmu

    model = fmu_model(ts.parse(DRIVEN))
    one = model.parameters[0]
    names = tuple(replace(one, name=name, meaning=name) for name in HOSTILE)
    inputs = tuple(replace(model.inputs[0], name=name, meaning=name) for name in HOSTILE)
    hostile = replace(model, name=HOSTILE[5], description=HOSTILE[0], parameters=names, inputs=inputs)
    path = str(tmp_path / "x.fmu")
    archive.write_archive(hostile, tmp_path / "x.fmu")
    assert validate_fmu(path) == []
    found = fmpy.read_model_description(path)
    assert len(found.modelVariables) == 4 + 2 * len(HOSTILE)
    assert found.modelVariables[4].name == HOSTILE[0] and found.coSimulation.modelIdentifier == "system_1"
    text = zipfile.ZipFile(path).read("sources/model.h").decode()
    assert "system(1); _*: sizes" in text.splitlines()[0] and "evil" not in text


@pytest.mark.slow
def test_what_an_fmu_cannot_hold(tmp_path):
    with pytest.raises(UnsupportedError, match="is a Python function"):
        write_fmu(ts.parse(DRIVEN), tmp_path / "x.fmu", outputs=[ts.Output("height", lambda t, y: 0.0)])
    with pytest.raises(TorseurError, match="no value is given for"):
        write_fmu(library.load("satellite"), tmp_path / "x.fmu")
    with pytest.raises(TorseurError, match="unknown quantity 'kinetic_energi'"):
        write_fmu(ts.parse(DRIVEN), tmp_path / "x.fmu", outputs=["kinetic_energi"])
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "puma560", "driven", "free_body"])
def test_directional_derivatives(name, made, tmp_path):
    """Oracle: central differences of the FMU's own derivatives and outputs, by states, parameters and inputs."""
    from fmpy.fmi2 import FMU2Model

    path = made(name)[1]
    described = fmpy.read_model_description(path)
    assert described.modelExchange.providesDirectionalDerivative
    folder = fmpy.extract(path, str(tmp_path))
    identifier = described.modelExchange.modelIdentifier
    model = FMU2Model(guid=described.guid, unzipDirectory=folder, modelIdentifier=identifier, instanceName="one")
    model.instantiate()
    model.setupExperiment(startTime=0.0)
    model.enterInitializationMode()
    model.exitInitializationMode()
    numbers = {v.name: v.valueReference for v in described.modelVariables}
    rates = [d.variable for d in described.derivatives]
    unknown = [rate.valueReference for rate in rates]
    unknown += [numbers["kinetic_energy"]] if "kinetic_energy" in numbers else []
    states = [rate.derivative.valueReference for rate in rates]
    others = [v.valueReference for v in described.modelVariables if v.causality in ("parameter", "input")]
    random = np.random.default_rng(4)
    known = [*states, *others]
    start = np.array(model.getReal(known)) + random.uniform(0.05, 0.15, len(known))
    change = random.uniform(-1, 1, len(known))

    def values(shift):
        model.setReal(known, list(start + shift * change))
        return np.array(model.getReal(unknown))

    step = 1e-5
    expected = (values(step) - values(-step)) / (2 * step)
    values(0.0)
    found = np.array(model.getDirectionalDerivative(unknown, known, list(change)))
    model.terminate()
    model.freeInstance()
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * (1 + np.abs(expected).max()))


@pytest.mark.slow
def test_constrained_fmus_say_that_they_have_none(made):
    described = fmpy.read_model_description(made("four_bar")[1])
    assert not described.modelExchange.providesDirectionalDerivative
