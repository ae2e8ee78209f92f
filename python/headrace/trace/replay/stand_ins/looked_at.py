"""What a trace tells of a file that was there before the program: what was opened in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headrace.trace.replay.stand_ins.first_reads import first_reads
from headrace.trace.replay.stand_ins.inputs import named
from headrace.trace.replay.stand_ins.known import Contents, Known, Made, Touch, joined, parent_of
from headrace.trace.replay.stand_ins.links import DELETE, LINKS, beginning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headrace.trace.replay.plan import Plan
    from headrace.trace.replay.stand_ins.links import Place
    from headrace.trace.replay.step import Step

_BY_CREATION: Final = 1  # H5_INDEX_CRT_ORDER
_CREATES: Final = {"group_create", "dataset_create", "datatype_commit"}
_OPENS: Final = {"group_open", "dataset_open", "datatype_open", "object_open"}
_BY_PLACE: Final = "it was opened by its place in an order, and the trace has no name of it"
_BY_PATH: Final = "the trace does not tell what it is"
_NO_TYPE: Final = "the trace has no type of it"


def looked_at(plans: Sequence[Plan], name: str) -> Contents:
    """All that the processes of a program have found in the file of that name."""
    found, made = Contents(), Made()
    walks = [_Walk(plan, name, found, made) for plan in plans]
    known: dict[str, str] = {}
    for walk in walks:
        walk.learn_tokens(known)
    for walk in walks:
        walk.follow_tokens(known)
    steps = [(step, walk) for walk in walks for step in walk.steps]
    for step, walk in sorted(steps, key=lambda each: each[0].begin):
        walk.take(step)
    needed = set().union(*(walk.needed for walk in walks))
    found.unknown |= dict.fromkeys(sorted(needed - found.objects.keys()), _BY_PATH)
    _settle(found)
    return found


def _settle(found: Contents) -> None:
    """Objects of which too little is known become unknown."""
    groups = {"/", *map(parent_of, found.objects)}
    for path, known in list(found.objects.items()):
        if known.kind == "object" and path in groups:
            known.kind = "group"
        if known.kind in {"file", "group"} or known.opened.get("type") is not None:
            continue
        found.unknown[path] = _BY_PATH if known.kind == "object" else _NO_TYPE
        del found.objects[path]


class _Walk:
    """Through what one process has done with the file."""

    def __init__(self, plan: Plan, name: str, found: Contents, made: Made) -> None:
        self.steps = [step for step in plan.steps if step.given and not step.failed]
        self._plan, self._name = plan, name
        self._found, self._made = found, made
        process = plan.process
        files = {i for i, each in process.files.items() if each["name"] == name}
        paths = {i: str(each["path"]) for i, each in process.objects.items()
                 if each["file"] in files}  # fmt: skip
        # Others have no path, or none that is known.
        self._paths = {i: joined(path) for i, path in paths.items() if path.startswith(("/", "#"))}
        self._first = first_reads(plan.seat)
        self.needed: set[str] = set()  # paths that were there, whatever they led to

    def learn_tokens(self, known: dict[str, str]) -> None:
        """Which paths references lead to, of objects that were opened by path, too."""
        for step in self.steps:
            token = step.given.get("opened", {}).get("token")
            if step.key[0] in self._paths and token and "token" not in step.place:
                known.setdefault(token, self._paths[step.key[0]])

    def follow_tokens(self, known: Mapping[str, str]) -> None:
        """References that were followed; to objects of no path what the trace calls them."""
        for step in self.steps:
            token, own = step.place.get("token"), self._paths.get(step.key[0])
            if token is None or own is None:
                continue
            if step.callback == "object_open":
                self._paths[step.key[0]] = known.get(token, own)
                self._found.tokens[token] = known.get(token, own)
            elif token in known:
                self._found.tokens[token] = known[token]

    def take(self, step: Step) -> None:
        """What a step tells."""
        if step.callback == "file_open" and named(step) == self._name:
            if self._found.file is None:
                self._found.file = Known("file", self._plan.process, step.given.get("opened", {}))
        elif step.callback in {"dataset_read", "dataset_write"}:
            self._touch(step)
        elif step.callback in LINKS:
            source, target = (self._place(each) for each in LINKS[step.callback](step))
            self._need(source)
            if target is not None:
                self._made.add(target)
        elif (step.callback, step.operation) == DELETE:
            self._need(self._place(beginning(step)))
        elif (path := self._paths.get(step.key[0])) is not None:
            self._object(step, path)

    def _place(self, place: Place) -> str | None:
        """Its path, where it is one of this file."""
        object_, *names = place
        base = self._paths.get(object_[0]) if object_ else None
        return None if base is None else joined(base, *names)

    def _need(self, path: str | None) -> None:
        if path and path != "/" and not self._made.has(path):
            self.needed.add(path)

    def _object(self, step: Step, path: str) -> None:
        if step.callback in _CREATES:
            self._made.add(path)
        elif step.callback == "attr_create":
            self._made.attributes.add((path, self._attribute(step)))
        elif self._made.has(path) or self._found.is_unknown(path):
            return
        elif step.callback in _OPENS:
            self._open(step, path)
        elif step.callback == "attr_open":
            self._open_attribute(step, path)
        given = step.given.get("given", ())
        asked = given[2] if len(given) > 2 else None
        if isinstance(asked, dict) and asked.get("index") == _BY_CREATION:
            self._found.ordered = True

    def _open(self, step: Step, path: str) -> None:
        if "at" in step.place:
            self._found.unknown[path] = _BY_PLACE
            return
        kind = str(self._plan.process.objects[step.key[0]]["kind"])
        opened = step.given.get("opened", {})
        known = self._known(path, kind)
        if known.kind == "object" or not known.opened:
            known.kind, known.process, known.opened = kind, self._plan.process, opened
        known.ratio = self._plan.ratios.get(step.key[0], known.ratio)

    def _known(self, path: str, kind: str) -> Known:
        return self._found.objects.setdefault(path, Known(kind, self._plan.process, {}))

    def _open_attribute(self, step: Step, path: str) -> None:
        name, opened = self._attribute(step), step.given.get("opened", {})
        if "at" in step.place:
            self._found.unknown[f"{path}@{name}"] = _BY_PLACE
            return
        holder = self._known(path, str(self._plan.process.objects[step.key[0]]["kind"]))
        if (path, name) in self._made.attributes:
            return
        if opened.get("type") is None or opened.get("space") is None:
            self._found.unknown[f"{path}@{name}"] = _NO_TYPE
        else:
            known = Known("attribute", self._plan.process, opened)
            holder.attributes.setdefault(name, known)

    def _attribute(self, step: Step) -> str:
        return str(self._plan.process.names.get(step.key[1], {}).get("is", "?"))

    def _touch(self, step: Step) -> None:
        stored, heap = self._first.get(step.number, ([], 0))
        for object_, _, _, space in step.given.get("transfers", ()):
            path = self._paths.get(object_[0]) if object_ else None
            if path in self._found.objects and not self._made.has(path):
                parts = None if 0 in self._first else stored
                is_read = step.callback == "dataset_read"
                self._found.objects[path].touched.append(
                    Touch(self._plan.process, is_read, space, step.bytes, parts, heap)
                )
