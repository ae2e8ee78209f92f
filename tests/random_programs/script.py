"""A program as one Python file that needs nothing of this package."""

from __future__ import annotations

from pathlib import Path

from random_programs import prelude
from random_programs.translate import closes

HEAD = """
import io, shutil, sys, tempfile

os.chdir(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())


def attempt(statement):
    SHOWN.clear()
    try:
        exec(statement, globals())
        print(">>>", statement)
    except Exception as error:
        print(">>>", statement, "  #", type(error).__name__, str(error)[:200])
    for kind, what in SHOWN:
        print("   ", what)


"""


def text(statements: list[str], why: str) -> str:
    comment = "".join(f"# {line}\n" for line in why.splitlines())
    if not closes(statements):
        comment += "# Ends without closing: only HDF5 itself does, at exit.\n"
    body = "".join(f"attempt({statement!r})\n" for statement in statements)
    if not closes(statements):
        body += "import ctypes\n\nctypes.CDLL(None).exit(0)\n"
    return comment + Path(prelude.__file__).read_text() + HEAD + body
