"""Counts callbacks per operation, then times all stacks in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.micro import child
from bench.micro.programs import FILE_OPERATION, Operation, Program
from bench.micro.stacks import NATIVE, STACKS, Stack
from bench.micro.summary import Cell, cell

BATCHES = 25
# What the two counting runs differ in; a multiple of eight, see AttributeCreate in the kernel.
COUNTED = 64


@dataclass
class Measurement:
    """All figures of one program: `times[stack][operation]` has one per repetition."""

    program: Program
    hdf5: str = ""
    times: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    callbacks: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)

    def add(self, stack: Stack, run: child.Run) -> None:
        self.hdf5 = run.hdf5
        by_operation = self.times.setdefault(stack.name, {})
        for operation, batches in run.times.items():
            # The least: whatever else a machine does can only make a batch longer.
            by_operation.setdefault(operation, []).append(min(batches))

    def cells(self) -> list[Cell]:
        return [
            cell(
                {
                    "program": self.program.name,
                    "hdf5": self.hdf5,
                    "operation": operation.name,
                    "stack": stack.name,
                },
                self.times[stack.name][operation.name],
                self.times[NATIVE.name][operation.name],
                self.callbacks.get(stack.name, {}).get(operation.name, {}),
            )
            for operation in self.program.operations
            for stack in STACKS
        ]


def count_callbacks(subject: child.Child, operation: Operation) -> dict[str, float]:
    """Callbacks per operation: what twice as many calls, prepared alike, add to the counts."""
    limit = 2 * COUNTED
    once, twice = (
        subject.run(1, [operation.request(calls, limit)]).calls for calls in (COUNTED, limit)
    )
    return {
        name: (twice[name] - once[name]) / COUNTED / operation.units
        for name in sorted(twice | once)
        if twice[name] != once[name]
    }


def repetition(measurement: Measurement, stack: Stack, plugins: Path) -> None:
    """Times all operations once under one stack, in fresh processes."""
    program = measurement.program
    files = [each for each in program.operations if each.name == FILE_OPERATION]
    others = [each for each in program.operations if each.name != FILE_OPERATION]
    for operations, reported in ((others, True), (files, False)):
        requests = [each.request() for each in operations]
        if requests:
            subject = child.Child(program, stack, plugins)
            measurement.add(stack, subject.run(BATCHES, requests, reported=reported))


def measure(
    programs: tuple[Program, ...], plugins: Path, repetitions: int, step: Callable[[], None]
) -> list[Measurement]:
    """Measures everything; `step` is called after each of steps(...) pieces of work."""
    measurements = [Measurement(program) for program in programs]
    for measurement in measurements:
        for stack in STACKS:
            if stack.seats:
                measurement.callbacks[stack.name] = {
                    operation.name: count_callbacks(
                        child.Child(measurement.program, stack, plugins), operation
                    )
                    for operation in measurement.program.operations
                }
            step()
    # In turns, and another first each time: what changes slowly then changes all stacks alike.
    for number in range(repetitions):
        first = number % len(STACKS)
        for measurement in measurements:
            for stack in STACKS[first:] + STACKS[:first]:
                repetition(measurement, stack, plugins)
                step()
    return measurements


def steps(programs: tuple[Program, ...], repetitions: int) -> int:
    """How often measure() calls its `step`."""
    return len(programs) * len(STACKS) * (1 + repetitions)
