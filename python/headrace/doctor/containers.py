"""Files that are stubs of containers of the layer `object`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace import stores
from headrace.doctor.diagnose import OK, PROBLEM, Finding
from headrace.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Container:
    """What a stub leads to.

    Attributes:
        id: Of the container.
        store: The folder of its store, as the stub says, or as was given.
        stack: What opens the file.
        findings: Whether the container is there.
    """

    id: str
    store: str
    stack: str
    findings: list[Finding]


def examine(file: Path, store: str = "") -> Container | None:
    """Of a stub; None for other files, and for those that cannot be read.

    Args:
        file: Any file.
        store: Where its store is, if not where the stub says.
    """
    try:
        stub = stores.read_stub(file)
    except FileError:
        return None
    if stub is None:
        return None
    where = store or stub.store
    options = (f"--store={where}",)
    try:
        found = stores.ask("stat", file, options=options).lines[0]
    except FileError as error:
        advice = "is the store elsewhere? HEADRACE_OBJECT_STORE names it"
        findings = [Finding(PROBLEM, str(error), advice)]
    else:
        has = ", ".join(f"{found[kind]} {kind}" for kind in ("groups", "datasets", "chunks"))
        findings = [Finding(OK, f"its store has the container, with {has}")]
        if found["damaged"]:
            findings.append(
                Finding(PROBLEM, "it is damaged", f"headrace object fsck {file} tells where")
            )
        if not found["original"]:
            findings.append(Finding(OK, f"it is a copied stub, for reading: of {found['made']}"))
    return Container(stub.container, where, f"object(store={where})", findings)
