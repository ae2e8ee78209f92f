import h5py, sys
from h5py import h5f, h5g, h5i, h5o
def show(label, call):
    try:
        r = call()
        if isinstance(r, h5py.HLObject): r = (type(r).__name__, r.name)
        print(label, r, flush=True)
    except Exception as e:
        print(label, "error", type(e).__name__, flush=True)

with h5py.File("p.h5", "w") as f:
    f["mnt/hidden"] = 1
    f["mnt2/deep/hidden"] = 1
    f["x"] = 1
    f["to_abs"] = h5py.SoftLink("/mnt/g/d")
    f["hardmnt"] = f["mnt"]
    f["softmnt"] = h5py.SoftLink("mnt")
with h5py.File("c.h5", "w") as f:
    f["g/d"] = [1, 2, 3]
    f["g/sub/e"] = 5
    f["x"] = 2
    f["abs"] = h5py.SoftLink("/x")
    f["rel"] = h5py.SoftLink("g/d")
    f["absd"] = h5py.SoftLink("/g/d")
    f["c_only"] = 3
    f.attrs["who"] = "child"
with h5py.File("d.h5", "w") as f:
    f["z"] = 9
    f["up"] = h5py.SoftLink("/x")

p = h5py.File("p.h5", "r+"); c = h5py.File("c.h5", "r+")
before = p["mnt"]
cg = c["g"]
h5f.mount(p.id, b"mnt", c.id)
show("list", lambda: sorted(p["mnt"]))
show("list before", lambda: sorted(before))
show("before hidden", lambda: before["hidden"][()])
show("before g", lambda: before["g/d"][()])
show("before.name", lambda: before.name)
show("name", lambda: p["mnt"].name)
show("name d", lambda: p["mnt/g/d"].name)
show("file of d", lambda: p["mnt/g/d"].file.filename)
show("value", lambda: p["mnt/g/d"][...].tolist())
show("hard", lambda: sorted(p["hardmnt"]))
show("hard.name", lambda: p["hardmnt/g"].name)
show("soft", lambda: sorted(p["softmnt"]))
show("soft.name", lambda: p["softmnt/g"].name)
show("to_abs", lambda: p["to_abs"][...].tolist())
show("abs", lambda: p["mnt/abs"][()])
show("rel", lambda: p["mnt/rel"][...].tolist())
show("absd", lambda: p["mnt/absd"][...].tolist())
g = p["mnt/g"]
show("from g rel", lambda: g["sub/e"][()])
show("from g abs /x", lambda: g["/x"][()])
show("from g abs /c_only", lambda: g["/c_only"][()])
show("from g abs /mnt/c_only", lambda: g["/mnt/c_only"][()])
show("child keys", lambda: sorted(c))
show("child /x", lambda: c["/x"][()])
show("child x", lambda: c["x"][()])
show("child attrs", lambda: dict(c.attrs))
show("child name", lambda: c.name)
show("cg name", lambda: cg.name)
show("cg abs", lambda: cg["/x"][()])
show("cg keys", lambda: sorted(cg))
show("child mnt", lambda: sorted(c["mnt"]))
show("attrs mnt", lambda: dict(p["mnt"].attrs))
show("visit", lambda: (lambda l: (p.visit(l.append), l)[1])([]))
show("visit mnt", lambda: (lambda l: (p["mnt"].visit(l.append), l)[1])([]))
show("objinfo", lambda: p["mnt/g"] == cg)
show("link exists", lambda: ("mnt/g" in p, "mnt/hidden" in p, "mnt" in p, "mnt/none" in p))
show("get link", lambda: (p.get("mnt", getlink=True).__class__.__name__, p.get("mnt/rel", getlink=True).path))
show("get class", lambda: p.get("mnt/g", getclass=True).__name__)
def write(): p["mnt/new"] = [7]; return p["mnt/new"][...].tolist()
show("write", write)
def write(): p["mnt"].create_dataset("new", data=[7]); return p["mnt/new"][...].tolist()
show("write2", write)
def mkg(): p.create_group("mnt/made/in/it"); p["mnt/made"].attrs["a"] = 1; return sorted(p["mnt/made"])
show("mkg", mkg)
def hard(): p["mnt/alias"] = p["mnt/g/d"]; return sorted(p["mnt"])
show("hard in mnt", hard)
def hardx(): p["mnt/cross"] = p["x"]; return 1
show("hard across", hardx)
def hardx(): p["cross"] = p["mnt/g"]; return 1
show("hard across back", hardx)
def mv(): p.move("mnt/alias", "mnt/alias2"); return sorted(p["mnt"])
show("move", mv)
def mv(): p.move("mnt/alias2", "alias3"); return 1
show("move across", mv)
def cp(): p.copy("mnt/g", "gcopy"); return sorted(p["gcopy"])
show("copy out", cp)
def cp(): h5o.copy(p.id, b"x", p.id, b"mnt/xc"); return p["mnt/xc"][()]
0
def cp(): p.copy(p["x"], p["mnt"], "xcopy"); return p["mnt/xcopy"][()]
show("copy in", cp)
def dl(): del p["mnt/alias2"]; return sorted(p["mnt"])
show("del", dl)
def dl(): del p["hardmnt"]; return sorted(p)
show("del hardmnt", dl)
show("keys after", lambda: sorted(p))
show("by idx", lambda: (h5o.open(p.id, b"mnt").name if 0 else h5g.open(p.id, b"mnt").links.exists(b"g"), p["mnt"].id.links.get_info(b"g").type, p.id.links.get_info(b"mnt/rel").type))
show("info", lambda: (len(p["mnt"]), h5o.get_info(p.id, b"mnt/g").type, h5o.get_info(p["mnt"].id).fileno == h5o.get_info(cg.id).fileno))
show("before len", lambda: len(before))
show("visit links", lambda: (lambda l: (p.visit_links(l.append), l)[1])([]))
show("again same", lambda: h5f.mount(p.id, b"mnt2", c.id))
show("self", lambda: h5f.mount(p.id, b"mnt2", p.id))
show("cycle", lambda: h5f.mount(c.id, b"g", p.id))
show("cycle2", lambda: h5f.mount(p["mnt"].id, b"g", p.id))
d = h5py.File("d.h5", "r+")
show("stack", lambda: h5f.mount(p.id, b"mnt", d.id))
show("stacked", lambda: (sorted(p["mnt"]), p["mnt/z"].name, p["mnt"].name))
show("unstack", lambda: h5f.unmount(p.id, b"mnt"))
show("unstacked", lambda: sorted(p["mnt"]))
show("nest", lambda: h5f.mount(p["mnt"].id, b"g/sub", d.id))
show("nested list", lambda: sorted(p["mnt/g/sub"]))
show("nested z", lambda: (p["mnt/g/sub/z"][()], p["mnt/g/sub/z"].name))
show("nested up", lambda: p["mnt/g/sub/up"][()])
show("nested mounted info", lambda: h5g.get_info if False else None)
show("mount dataset", lambda: h5f.mount(p.id, b"x", d.id))
show("mount none", lambda: h5f.mount(p.id, b"none", d.id))
show("unmount none", lambda: h5f.unmount(p.id, b"mnt2"))
show("unmount x", lambda: h5f.unmount(p.id, b"x"))
show("unmount inner by path", lambda: h5f.unmount(p.id, b"mnt/g/sub"))
show("after", lambda: sorted(p["mnt/g/sub"]))
show("unmount by child", lambda: h5f.unmount(p["mnt"].id, b"."))
show("after2", lambda: sorted(p["mnt"]))
show("g alive", lambda: (sorted(g), g.name, g["sub/e"][()]))
show("child keys after", lambda: sorted(c))
show("child /x after", lambda: c["/x"][()])
h5f.mount(p.id, b"mnt2/deep", c.id)
show("remount", lambda: (p["mnt2/deep/g/d"].name, p["mnt2/deep/new"][...].tolist()))
d1 = p["mnt2/deep/g/d"]
c.id.close() if 0 else None
show("closed child", lambda: sorted(p["mnt2/deep"]))
p.flush()
show("count", lambda: (h5f.get_obj_count(p.id, h5f.OBJ_ALL), h5f.get_obj_count(p.id, h5f.OBJ_FILE), h5f.get_obj_count(p.id, h5f.OBJ_ALL|h5f.OBJ_LOCAL)))
h5i.dec_ref
p.id.close()
show("d1 after p closed", lambda: d1[...].tolist())
show("d1 name", lambda: d1.name)
show("d1 write", lambda: d1.__setitem__(0, 100))
del d1, g, cg, before
d.close()
with h5py.File("c.h5") as f:
    print(sorted(f), f["g/d"][...].tolist())
with h5py.File("p.h5") as f:
    print(sorted(f), sorted(f["mnt"]) if "mnt" in f else None)
