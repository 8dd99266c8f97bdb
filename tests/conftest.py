"""Property tests draw the same examples in every run, so that a failure is a change and not a chance.

What takes a third of a second or more is marked slow where it stands: `make quick` leaves it out and takes one in three of
the cases of what is left, `make test` runs all of it. Of cases without number (every mechanism of the library, every pair
of options) `make test` runs a sample, the same in every run; `make thorough` runs all.
"""

import random

import pytest
from hypothesis import HealthCheck, settings

from browsing import browser, launch  # noqa: F401
from firefox import firefox  # noqa: F401
from sampling import is_sampled

settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

FEW = {"double_pendulum", "four_bar", "spinning_top", "free_body", "rolling_disc", "satellite"}
"""Of tests over the whole library, these mechanisms are enough for a quick look; cases of the others are slow."""


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="no slow tests, and of cases of the others one in three")
    parser.addoption("--thorough", action="store_true", help="all cases over the library and all pairs of options")
    parser.addoption("--update-golden", action="store_true", help="write the files of tests/golden anew")
    parser.addoption(
        "--order-seed", default="off", help="tests in random order: random, or a number that a run printed"
    )


def pytest_configure(config):
    given = getattr(config, "workerinput", {}).get("order_seed") or config.getoption("--order-seed")
    config.order_seed = given if given != "random" else str(random.SystemRandom().randrange(1 << 32))


def pytest_report_header(config):
    return f"order of the tests: --order-seed={config.order_seed}"


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    """Said again beside failures: quiet runs have no header."""
    if exitstatus:
        terminalreporter.write_line(f"order of the tests: --order-seed={config.order_seed}")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Workers of pytest-xdist have to agree on the order."""
    node.workerinput["order_seed"] = node.config.order_seed


def _shuffle(items, seed):
    """Files in any order and tests in any order within them, so that what a file prepares is prepared once."""
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    # A generator of its own: tests that draw from `random` draw the same in every order.
    order = random.Random(seed)
    names = sorted(files)
    order.shuffle(names)
    for name in names:
        order.shuffle(files[name])
    items[:] = [item for name in names for item in files[name]]


@pytest.fixture(scope="session")
def thorough(request):
    """Whether all cases are asked for, and no sample of them."""
    return request.config.getoption("--thorough")


def pytest_collection_modifyitems(config, items):
    from torseur.description import library

    others = {entry.name for entry in library.entries()} - FEW
    kept = []
    for item in items:
        words = getattr(item, "callspec", None)
        named = {str(value).partition("?")[0] for value in words.params.values()} if words is not None else set()
        is_other = bool(named & others)
        if is_other:
            item.add_marker(pytest.mark.slow)
        if _is_wanted(item, is_other, config):
            kept.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
    if config.order_seed != "off":
        _shuffle(items, config.order_seed)


def _is_wanted(item, is_other, config):
    """Whether a case is run; one that is named on the command line is wanted in any case."""
    if config.getoption("--thorough") or any("::" in word for word in config.args):
        return True
    if config.getoption("--quick"):
        is_case = getattr(item, "callspec", None) is not None
        return item.get_closest_marker("slow") is None and (not is_case or is_sampled(item.nodeid, 3))
    return not is_other or is_sampled(item.nodeid)
