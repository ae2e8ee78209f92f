"""Each rule has a program that it is for, and one that comes near."""

from __future__ import annotations

import pytest
from tracing.conftest import Traced

from headrace.trace.advice import Advice, advise
from headrace.trace.summary import uses

MAKE = """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=np.random.default_rng(1).random((400, 1000)), **{how})
"""
READ = """
with h5py.File("x.h5", rdcc_nbytes={cache}) as f:
    d = f["d"]
    for i in range(0, 400, 4):
        d[i, :10]
"""
GZIP = "dict(chunks=(400, 1000), compression='gzip', compression_opts=1)"
PROGRAMS = {
    "decoded_again": (
        MAKE.format(how=GZIP) + READ.format(cache=1000),
        MAKE.format(how=GZIP) + READ.format(cache=50_000_000),
    ),
    "rewritten_in_parts": (
        """
with h5py.File("x.h5", "w", rdcc_nbytes=1000) as f:
    d = f.create_dataset("d", (200, 1000), "f8", chunks=(200, 1000), compression="gzip")
    for i in range(200):
        d[i] = np.random.default_rng(i).random(1000)
""",
        """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (200, 1000), "f8", chunks=(1, 1000), compression="gzip")
    for i in range(200):
        d[i] = np.random.default_rng(i).random(1000)
""",
    ),
    "filtered_in_one_thread": (
        """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=np.random.default_rng(1).random((400, 1000)), chunks=(20, 1000),
                     compression="gzip")
""",
        """
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", data=np.random.default_rng(1).random((400, 1000)), chunks=(20, 1000))
""",
    ),
    "scattered_writes": (
        """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (1000, 300), "f8")
    for i in range(300):
        d[:, i] = i
""",
        """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (300, 1000), "f8")
    for i in range(300):
        d[i] = i
""",
    ),
    "converted": (
        """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (300, 1000), ">f4")
    for i in range(300):
        d[i] = np.arange(1000.0)
""",
        """
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (300, 1000), "<f8")
    for i in range(300):
        d[i] = np.arange(1000.0)
""",
    ),
    "united_selections": (
        MAKE.format(how="{}")
        + """
with h5py.File("x.h5") as f:
    for i in range(20):
        f["d"][sorted(np.random.default_rng(i).choice(400, 50, replace=False))]
""",
        MAKE.format(how="{}")
        + """
with h5py.File("x.h5") as f:
    for i in range(20):
        f["d"][i * 10 : i * 10 + 50]
""",
    ),
    "tiny_datasets": (
        """
with h5py.File("x.h5", "w") as f:
    for i in range(600):
        f[f"d{i}"] = i
""",
        """
with h5py.File("x.h5", "w") as f:
    for i in range(50):
        f[f"d{i}"] = i
""",
    ),
    "opened_in_a_loop": (
        MAKE.format(how="{}")
        + """
with h5py.File("x.h5") as f:
    for i in range(300):
        f["d"][i, 0]
""",
        MAKE.format(how="{}")
        + """
with h5py.File("x.h5") as f:
    d = f["d"]
    for i in range(300):
        d[i, 0]
""",
    ),
}
WORDS = {
    "decoded_again": "decoded again",
    "rewritten_in_parts": "encoded for each part",
    "filtered_in_one_thread": "in one thread",
    "scattered_writes": "places apart",
    "converted": "converted to",
    "united_selections": "lists or unions",
    "tiny_datasets": "datasets hold",
    "opened_in_a_loop": "it is opened",
}


def advice_for(layer: Traced, program: str) -> list[Advice]:
    for each in layer.output.iterdir() if layer.output.exists() else ():
        each.unlink()
    layer.python(program)
    trace = layer.read()
    return advise(trace, uses(trace), most=10)


@pytest.mark.parametrize("rule", PROGRAMS)
def test_a_rule_speaks_where_it_should(rule: str, layer: Traced) -> None:
    meant, near = PROGRAMS[rule]
    (found,) = [each for each in advice_for(layer, meant) if WORDS[rule] in each.evidence]
    assert found.subject in ("/d", "all files")
    assert found.gain > 0
    assert not [each for each in advice_for(layer, near) if WORDS[rule] in each.evidence]


def test_a_program_in_order_gets_no_advice(layer: Traced) -> None:
    assert (
        advice_for(
            layer,
            """
with h5py.File("x.h5", "w") as f:
    f["d"] = np.arange(1e6)
with h5py.File("x.h5") as f:
    f["d"][()]
""",
        )
        == []
    )
