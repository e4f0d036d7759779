"""Ctrl-C ends a search at once, and the user sees progress on a terminal only."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import textwrap

import pytest

import ckpt
from ckpt.files import write_text
from ckpt.planner import ProblemBuilder, Read

# A search of an hour: whoever waits for its end fails by the guard of `finish`.
# A shell in the background may have it ignore the signal.
_HOUR = """
    import signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, {tests!r})
    from test_interrupt import chain
    try:
        chain(300).solve(1000 * 40, time_limit=3600{progress})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def chain(length):
    """A problem of `length` products forward and backward, each of 1000 bytes and more."""
    builder = ProblemBuilder(1000, 100)
    values = [builder.value((250,), 1000, home="argument")]
    for i in range(length):
        values.append(builder.value((250,), 1000 + i % 7 * 100))
        builder.op("opaque", [Read(values[-2], need="memory")], values[-1:], flops=5000 + i % 5 * 3000, compute_ps=10**6)
    gradient = values[-1]
    for i in reversed(range(length)):
        made = builder.value((250,), 1000, home="arena" if i else "result")
        reads = [Read(gradient, need="memory"), Read(values[i + 1], need="memory"), Read(values[i], need="memory")]
        builder.op("opaque", reads, [made], flops=9000, compute_ps=10**6, backward=True)
        gradient = made
    return ckpt.Problem(builder.text())


def start(script, progress="", **options):
    text = textwrap.dedent(script).format(tests=os.path.dirname(__file__), progress=progress)
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, **options)


def finish(child):
    """Standard output and error of `child`; the guard ends a child that hangs."""
    try:
        return child.communicate(timeout=300)
    finally:
        child.kill()


def test_ctrl_c_ends_a_search_of_an_hour():
    child = start(_HOUR, ", progress=lambda line: print('searching', flush=True)")
    assert child.stdout.readline() == "searching\n"
    child.send_signal(signal.SIGINT)
    assert finish(child)[0].endswith("interrupted\n")


class _Stopped(Exception):
    pass


@pytest.mark.parametrize("question", [lambda of: of.minimum_bytes_bound(), lambda of: of.extra_flops_bound(40000)])
def test_a_signal_ends_a_proof_of_bounds(question):
    """Python itself runs a handler once, behind the proof, however many signals there were."""
    seen = []

    def stop(*_):
        seen.append(1)
        if len(seen) == 3:
            raise _Stopped

    problem = chain(3000)._problem
    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(_Stopped):
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            question(problem)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_error_of_the_progress_function_ends_the_search():
    lines = []

    def progress(line):
        lines.append(line)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        chain(300).solve(1000 * 40, time_limit=3600, progress=progress)
    assert len(lines) == 1


def on_a_terminal(script):
    """All that `script` writes to its terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = start(script, stderr=theirs)
    os.close(theirs)
    finish(child)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the end of a terminal
        pass
    return shown.decode()


_SHORT = _HOUR.replace("3600", "1")


def test_progress_shows_on_a_terminal():
    assert "ckpt: planning" in on_a_terminal(_SHORT)


def test_progress_is_silent_elsewhere():
    assert finish(start(_SHORT, stderr=subprocess.PIPE)) == ("", "")


def test_a_user_who_reads_lines_gets_each_once():
    lines = []
    chain(300).solve(1000 * 40, time_limit=1, progress=lines.append)
    assert lines and all(a != b for a, b in zip(lines, lines[1:]))


def test_the_same_effort_leads_to_the_same_plan_whatever_the_time():
    problem = chain(100)
    first, second = (problem.solve(1000 * 20, time_limit=limit, effort=0.2) for limit in (0, 1000))
    assert first.text == second.text
    with pytest.raises(ckpt.CkptError, match="effort above 0"):
        problem.solve(1000 * 20, effort=0)


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "plan.json"
    write_text(path, "first")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "second \ud800")
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["plan.json"]


def test_small_steps_are_searched_for_less_time():
    assert chain(5).search_seconds == 0.5
    assert chain(600).search_seconds == 1.2
    assert chain(5000).search_seconds == 5
