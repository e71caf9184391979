"""What holds for every test: examples are reproducible, and in CI nothing is left out unseen."""

import os

import pytest
from hypothesis import settings

# No deadline: a slow machine is no failure. The blob replays a failing example exactly.
settings.register_profile("holdfast", deadline=None, print_blob=True)
settings.load_profile("holdfast")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """In CI a test that did not run counts as failed: green must mean that everything was tried."""
    if not os.environ.get("CI"):
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    # The processes of pytest-xdist report to the first one, which alone has the whole picture.
    if reporter is None or hasattr(session.config, "workerinput"):
        return
    left_out = sum(len(reporter.stats.get(outcome, ())) for outcome in ("skipped", "xfailed"))
    if left_out and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{left_out} skipped or expected to fail: not allowed in CI", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    """Show the figures that tests measured (`record_property("figure", text)`), passed or not."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, text in report.user_properties:
                if name == "figure":
                    terminalreporter.write_line(text)
