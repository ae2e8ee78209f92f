"""Groups, links and attributes, compact and dense, in name and in creation order."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
from h5py import h5g, h5p

from corpus.registry import in_each_format, in_file


def fill_group(group: h5py.Group, count: int) -> None:
    for number in reversed(range(count)):
        group.create_group(f"member_{number:04}") if number % 3 else group.create_dataset(
            f"data_{number:04}", data=np.int8(number % 100)
        )


@in_each_format("groups")
def groups(file: h5py.File) -> None:
    for count in (0, 3, 30, 300):  # 300: several nodes of a B-tree; 30: dense where there is dense
        for ordered in (False, True):
            name = f"{'ordered' if ordered else 'plain'}_{count}"
            fill_group(file.create_group(name, track_order=ordered), count)
    deep = file
    for level in range(20):
        deep = deep.create_group(f"level{level}")
    plist = h5p.create(h5p.GROUP_CREATE)
    plist.set_link_creation_order(h5p.CRT_ORDER_TRACKED)  # tracked, not indexed
    h5g.create(file.id, b"tracked_only", gcpl=plist)


@in_each_format("links")
def links(file: h5py.File) -> None:
    file["a/data"] = np.arange(6)
    file["a/hard"] = file["a/data"]
    file["loop"] = file["/"]
    file["a/b/up"] = file["a"]
    file["soft"] = h5py.SoftLink("/a/data")
    file["soft_relative"] = h5py.SoftLink("a/b/up/data")
    file["soft_to_group"] = h5py.SoftLink("/a/b")
    file["soft_cycle"] = h5py.SoftLink("/soft_cycle")
    file["dangling"] = h5py.SoftLink("/not/there")
    file["external"] = h5py.ExternalLink("extents.h5", "/scalar")
    file["external_group"] = h5py.ExternalLink("groups_v110.h5", "/plain_3")
    file["external_no_file"] = h5py.ExternalLink("missing.h5", "/x")
    file["external_no_object"] = h5py.ExternalLink("extents.h5", "/nothing")
    for name in ("größe", "空 白", 'quo"te\\', "new\nline", " "):
        file[f"names/{name}"] = h5py.SoftLink(f"/names/{name}/x")


def many_attributes(thing: Any, count: int) -> None:
    for number in reversed(range(count)):
        thing.attrs[f"attribute_{number:03}"] = np.arange(number % 5 + 1, dtype="<i2")


@in_each_format("attributes")
def attributes(file: h5py.File) -> None:
    for count in (0, 5, 40):  # more than 8 are dense from format 1.8 on
        for ordered in (False, True):
            stem = f"{'ordered' if ordered else 'plain'}_{count}"
            many_attributes(file.create_group(f"group_{stem}", track_order=ordered), count)
            made = file.create_dataset(f"data_{stem}", data=1.5, track_order=ordered)
            many_attributes(made, count)
    file["named"] = np.dtype([("a", "i4"), ("b", "S3")])
    many_attributes(file["named"], 12)
    file.attrs.create("of_named_type", np.zeros(2, file["named"].dtype), dtype=file["named"])
    file.create_dataset("of_named_type", (3,), file["named"])
    removed = file.create_group("some_removed")
    many_attributes(removed, 20)
    for number in range(0, 20, 2):
        del removed.attrs[f"attribute_{number:03}"]
    if file.libver[0] not in ("earliest",):
        file.attrs["large"] = np.arange(20000, dtype="<i8")  # beyond 64 KiB only when dense


@in_file("times.h5", track_order=True)
def times(file: h5py.File) -> None:
    """Objects that carry their time of change: equal only under one clock."""
    file.create_dataset("old_style", data=1, track_times=True)
    file.create_group("group").attrs["x"] = 1


@in_file("holes.h5", libver=("v110", "v114"))
def holes(file: h5py.File) -> None:
    """Objects deleted and moved: free space, emptied groups, reused names."""
    fill_group(file.create_group("thinned"), 60)
    for name in list(file["thinned"])[::2]:
        del file["thinned"][name]
    fill_group(file.create_group("emptied"), 20)
    for name in list(file["emptied"]):
        del file["emptied"][name]
    file["moved"] = np.arange(100)
    file.move("moved", "emptied/here")
