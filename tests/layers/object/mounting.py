"""What a program sees of files that are mounted in files, in words: natively and in containers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import h5py
from h5py import h5f


def show(label: str, call: Callable[[], Any]) -> None:
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__)


def names_below(group: h5py.Group) -> list[str]:
    found: list[str] = []
    group.visit(found.append)
    return found


def links_below(group: h5py.Group) -> list[str]:
    found: list[str] = []
    group.visit_links(found.append)
    return found


def value_of(group: h5py.Group, name: str) -> Any:
    return group[name][()]


def make_files() -> None:
    with h5py.File("p.h5", "w") as file:
        file["mnt/hidden"], file["mnt2/deep/hidden"], file["x"] = 1, 1, 1
        file["to_child"], file["soft"] = h5py.SoftLink("/mnt/g/d"), h5py.SoftLink("mnt")
    with h5py.File("c.h5", "w") as file:
        file["g/d"], file["g/sub/e"], file["x"], file["only"] = [1, 2, 3], 5, 2, 3
        file["absolute"], file["relative"] = h5py.SoftLink("/x"), h5py.SoftLink("g/d")
        file["absolute_here"] = h5py.SoftLink("/g/d")
        file.attrs["who"] = "child"
    with h5py.File("d.h5", "w") as file:
        file["z"], file["up"] = 9, h5py.SoftLink("/x")


def look_down(p: h5py.File) -> None:
    show("members", lambda: sorted(p["mnt"]))
    show("names", lambda: (p["mnt"].name, p["mnt/g/d"].name, p["mnt/g"].parent.name))
    show("file", lambda: p["mnt/g/d"].file.filename)
    show("elements", lambda: p["mnt/g/d"][...])
    show("by soft links", lambda: (sorted(p["soft"]), p["to_child"][...], p["soft/g/sub/e"][()]))
    for name in ("absolute", "relative", "absolute_here"):
        show(name, partial(value_of, p["mnt"], name))
    show("attributes", lambda: dict(p["mnt"].attrs))
    show("lengths", lambda: (len(p), len(p["mnt"]), len(p["mnt/g"])))
    show("objects", lambda: names_below(p))
    show("objects in it", lambda: names_below(p["mnt"]))
    show("links", lambda: links_below(p))
    show("exists", lambda: [name in p for name in ("mnt", "mnt/g", "mnt/hidden", "mnt/none")])
    show("class", lambda: p.get("mnt/g", getclass=True))
    show("kind of link", lambda: p.get("mnt/g", getclass=True, getlink=True))
    show("soft link", lambda: p.get("mnt/relative", getlink=True).path)


def look_up(c: h5py.File, of_child: h5py.Group) -> None:
    """The child's id means the root that it is mounted below, and "/" does for its objects."""
    show("by the child", lambda: (sorted(c), c["x"][()], dict(c.attrs), c.name, sorted(c["mnt"])))
    show("by its group", lambda: (sorted(of_child), of_child["sub/e"][()], of_child["/x"][()]))
    show("not its root", lambda: of_child["/only"])
    show("its root", lambda: of_child["/mnt/only"][()])
    show("of the child", lambda: len(c))


def change(p: h5py.File) -> None:
    show("dataset", lambda: p["mnt"].create_dataset("new", data=[7]).name)
    show("dataset of the parent", lambda: p.__setitem__("mnt/new2", [7]))
    show("groups", lambda: p.create_group("mnt/made/in/it").name)
    show("attribute", lambda: p["mnt/made"].attrs.create("a", 1))
    show("hard link", lambda: p.__setitem__("mnt/alias", p["mnt/g/d"]))
    show("hard link in", lambda: p.__setitem__("mnt/cross", p["x"]))
    show("hard link out", lambda: p.__setitem__("cross", p["mnt/g"]))
    show("soft link in", lambda: p.__setitem__("mnt/s", h5py.SoftLink("g")))
    show("move", lambda: p.move("mnt/alias", "mnt/alias2"))
    show("move out", lambda: p.move("mnt/alias2", "alias3"))
    show("copy out", lambda: p.copy("mnt/g", "copied"))
    show("copy in", lambda: p.copy(p["x"], p["mnt"], "copied"))
    show("delete", lambda: p.__delitem__("mnt/alias2"))
    show("after that", lambda: (sorted(p), sorted(p["mnt"]), sorted(p["copied"])))


def refuse(p: h5py.File, c: h5py.File, d: h5py.File) -> None:
    show("twice", lambda: h5f.mount(p.id, b"mnt2", c.id))
    show("itself", lambda: h5f.mount(p.id, b"mnt2", p.id))
    show("a cycle", lambda: h5f.mount(p["mnt"].id, b"g", p.id))
    show("at a dataset", lambda: h5f.mount(p.id, b"x", d.id))
    show("at nothing", lambda: h5f.mount(p.id, b"none", d.id))
    show("unmount nothing", lambda: h5f.unmount(p.id, b"mnt2"))
    show("unmount a dataset", lambda: h5f.unmount(p.id, b"x"))
    show("nothing of it", lambda: (sorted(p["mnt2"]), sorted(d)))


def mount_more(p: h5py.File, d: h5py.File) -> None:
    show("on it", lambda: h5f.mount(p.id, b"mnt", d.id))
    show("seen", lambda: (sorted(p["mnt"]), p["mnt/z"].name, p["mnt"].name))
    show("off", lambda: h5f.unmount(p.id, b"mnt"))
    show("seen again", lambda: sorted(p["mnt"]))
    show("in it", lambda: h5f.mount(p["mnt"].id, b"g/sub", d.id))
    show("of it", lambda: (p["mnt/g/sub/z"][()], p["mnt/g/sub/z"].name, p["mnt/g/sub/up"][()]))
    show("all", lambda: names_below(p))
    show("out", lambda: h5f.unmount(p.id, b"mnt/g/sub"))
    show("as before", lambda: sorted(p["mnt/g/sub"]))


def main() -> None:
    make_files()
    p, c, d = (h5py.File(name, "r+") for name in ("p.h5", "c.h5", "d.h5"))
    point, of_child = p["mnt"], c["g"]
    h5f.mount(p.id, b"mnt", c.id)
    show("opened before", lambda: (sorted(point), len(point), point["hidden"][()], point.name))
    show("the same", lambda: (p["mnt/g"] == of_child, p["mnt"] == point))
    look_down(p)
    look_up(c, of_child)
    change(p)
    refuse(p, c, d)
    mount_more(p, d)
    below = p["mnt/g"]
    show("unmount by the root", lambda: h5f.unmount(p["mnt"].id, b"."))
    show("what was hidden", lambda: sorted(p["mnt"]))
    show("still open", lambda: (sorted(below), below["sub/e"][()], below["/only"][()]))
    show("the child's again", lambda: (sorted(c), c["/x"][()]))
    h5f.mount(p.id, b"mnt", c.id)
    show("unmount by the group", lambda: h5f.unmount(point.id, b"."))
    h5f.mount(p.id, b"mnt2/deep", c.id)
    elements = p["mnt2/deep/g/d"]
    show("elsewhere", lambda: (elements.name, sorted(p["mnt2/deep"])))
    p.flush()
    show("counts", lambda: [h5f.get_obj_count(one.id, h5f.OBJ_ALL) for one in (p, c)])
    p.id.close()
    show("the parent is closed", lambda: elements[...])
    show("and the child changed", lambda: elements.__setitem__(0, 100))
    for one in point, of_child, below, elements:
        one.id.close()
    c.close()
    d.close()
    for name in ("p.h5", "c.h5", "d.h5"):
        with h5py.File(name) as file:
            show(name, partial(links_below, file))
            show(name, partial(names_below, file))
    with h5py.File("c.h5") as file:
        show("what was written", lambda: file["g/d"][...])


if __name__ == "__main__":
    main()
