"""Worker processes, and what it means when one does not answer."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.run import end

TESTS = Path(__file__).resolve().parents[1]


class LostError(Exception):
    """A worker died or hung; carries the stacks."""


@dataclass
class Worker:
    environment: Mapping[str, str]
    folder: Path
    name: str
    program: str = "random_programs.worker"
    started: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def errors(self) -> Path:
        return self.folder / f"{self.name}.stderr"

    def start(self) -> subprocess.Popen[bytes]:
        environment = {**self.environment, "PYTHONFAULTHANDLER": "1", "PYTHONPATH": str(TESTS)}
        self.started += 1
        with self.errors.open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", self.program],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def tell(self, request: dict[str, Any]) -> None:
        if self.process is None:
            self.process = self.start()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, limit: float) -> dict[str, Any]:
        process = self.process
        assert process is not None
        assert process.stdout is not None
        if not select.select([process.stdout], [], [], limit)[0]:
            seen = end(process)
            self.forget()
            raise LostError(f"hangs for {limit} s\n{seen}\n{self.said()}")
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            status = process.wait()
            self.forget()
            raise LostError(f"died, status {status}\n{self.said()}")
        made: dict[str, Any] = json.loads(line)
        if "lost" in made:
            raise LostError(f"a program ended with status {made['lost']}\n{self.said()}")
        return made

    def said(self) -> str:
        return self.errors.read_text(errors="replace")[-6000:]

    def ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        self.tell(request)
        return self.answer(limit)

    def close(self) -> int | None:
        """Ends it as a program ends, so that layers are torn down."""
        if self.process is None:
            return None
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            raise LostError(f"does not end\n{end(self.process)}\n{self.said()}") from None
        finally:
            self.forget()

    def forget(self) -> None:
        assert self.process is not None
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self.process = None
