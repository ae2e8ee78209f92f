"""`headrace run`: start a program under a stack."""

from headrace.cli.execute import CannotExecuteError, execute
from headrace.cli.output import (
    CommandArgument,
    ConfigOption,
    StackOption,
    fail,
    reports_errors,
    warn,
)
from headrace.plan import inherited_environment, prepare

EXAMPLES = """
**Examples**

    headrace run -- python simulation.py

    headrace run --stack 'null(seat=vfd)' -- h5dump -H data.h5

    headrace run --config site.toml -- ./solver --steps 100

    mpirun -n 4 headrace run --stack null -- ./parallel_solver
"""


@reports_errors
def run(command: CommandArgument, stack: StackOption = None, config: ConfigOption = None) -> None:
    """Run a program with a stack of layers under all its HDF5 files.

    Sets HDF5_PLUGIN_PATH, HDF5_VOL_CONNECTOR, HDF5_DRIVER and HDF5_DRIVER_CONFIG as the stack
    needs, then becomes the program: its exit status, signals and terminal are its own. A stack
    that cannot work ends with status 2 before the program starts; 127 means that the program was
    not found, 126 that it cannot be executed.
    """
    environ = inherited_environment()
    plan = prepare(stack, config, environ)
    for warning in plan.warnings:
        warn(warning)
    try:
        execute(command, plan.apply(environ))
    except CannotExecuteError as error:
        fail(str(error), error.status)
