"""Reading what probe and plug-ins wrote."""

import json
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headrace.doctor.copies import Copy
from headrace.doctor.evidence import Evidence, Load, read_probe, read_report

_REPORT = """
{"event":"load","seat":"vol","name":"n","pid":7,"hdf5":"/l/a/../h.so","version":"2.0.0","parallel":false,"threadsafe":true}
{"event":"file","seat":"vfd","name":"n","pid":7,"call":"open","file":"x.h5","ok":false}
{"event":"file","seat":"vfd","name":"n","pid":7,"call":"open","file":"x.h5","ok":true}
{"event":"counts","seat":"vol","name":"n","pid":7,"calls":{"file_create":1,"dataset_write":3}}
{"event":"counts","seat":"vol","name":"n","pid":8,"calls":{"file_open":2}}
{"event":"something new"}
[1]
{"event":"load","sea
"""
_PROBE = """
{"event":"start","pid":7,"exe":"/bin/sh"}
{"event":"start","pid":7,"exe":"/bin/python"}
{"event":"start","pid":8,"exe":"/bin/rm"}
{"event":"end","pid":7,"exe":"/bin/python","how":"exit","signal":0,"environment":{"HDF5_DRIVER":null},
 "copies":[]}
{"event":"end","pid":9,"exe":"/bin/python","how":"_exit","signal":0,"copies":[{"path":"/l/h.so","version":"2.0.0","initialised":false,"parallel":false,"threadsafe":null}]}
"""


def test_reports_are_read_and_odd_lines_left_out(tmp_path: Path) -> None:
    file = tmp_path / "report"
    file.write_text(_REPORT)
    evidence = Evidence()
    read_report(evidence, file)
    assert evidence.loads == [Load("vol", "n", 7, "/l/a/../h.so", "2.0.0", False, True)]
    assert [call.ok for call in evidence.files] == [False, True]
    assert evidence.calls == {"n": 6}


def test_processes_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "probe"
    file.write_text(_PROBE)
    evidence = Evidence()
    read_probe(evidence, file)
    found = {p.pid: (p.exe, p.how, len(p.copies)) for p in evidence.processes}
    # The line that was cut in two counts for nothing.
    assert found == {
        7: ("/bin/python", None, 0),
        8: ("/bin/rm", None, 0),
        9: ("/bin/python", "_exit", 1),
    }


def test_a_copy_is_what_all_witnesses_together_tell(tmp_path: Path) -> None:
    report, probe = tmp_path / "report", tmp_path / "probe"
    report.write_text(_REPORT)
    probe.write_text(_PROBE)
    evidence = Evidence()
    read_report(evidence, report)
    read_probe(evidence, probe)
    (copy,) = evidence.copies()
    assert copy == Copy("/l/h.so", "2.0.0", True, False, True)
    assert evidence.loaders(copy) == "python"
    assert copy.number() == (2, 0, 0)
    assert Copy("x", None).number() == ()
    assert Copy("x", "1.14.4-3").number() == (1, 14, 4)
    assert Copy("x", "1.x").number() == ()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
_KEYS = ("seat", "name", "pid", "hdf5", "version", "call", "file", "ok", "exe", "how", "signal")
_COPIES = st.lists(_JSON | st.dictionaries(st.sampled_from(["path", "version", "x"]), _JSON))
_EVENTS = st.fixed_dictionaries(
    {"event": st.sampled_from(["load", "file", "counts", "start", "end"])},
    optional={
        **dict.fromkeys(_KEYS, _JSON),
        "copies": _JSON | _COPIES,
        "objects": _JSON | st.lists(_JSON),
        "environment": _JSON | st.dictionaries(st.text(), _JSON),
        "calls": _JSON | st.dictionaries(st.text(), _JSON),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example([{"event": "end", "copies": [{"path": "a\0b"}], "objects": ["a\0b", "\ud800"]}], "")
@example([{"event": "load", "hdf5": "\ud800", "pid": None, "parallel": 3}], "\x85")
@given(st.lists(_EVENTS | _JSON, max_size=4), st.text())
def test_nothing_in_the_files_can_stop_the_doctor(
    tmp_path: Path, events: list[object], tail: str
) -> None:
    file = tmp_path / "lines"
    text = "\n".join(json.dumps(event) for event in events) + "\n" + tail
    file.write_text(text, errors="replace")
    evidence = Evidence()
    read_report(evidence, file)
    read_probe(evidence, file)
    for copy in evidence.copies():
        assert evidence.loaders(copy)
    assert all("\0" not in name for process in evidence.processes for name in process.objects)
