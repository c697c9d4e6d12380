"""JVMs in the emulated machine, and what their programs ask its kernel."""

import subprocess
from pathlib import Path

from conftest import ROOT, system_jdk
from processes import clean_environment

from .machine import Root

# Compiling little is quicker under emulation.
QUICK = ["-XX:TieredStopAtLevel=1"]


def add_jvm(root: Root, folder: Path, programs: Path) -> None:
    """The distribution's as /jdk; tests/programs as /classes, with the library that they load, /libplaces.so."""
    home = system_jdk().home
    library = folder / "libplaces.so"
    include = [f"-I{home}/include", f"-I{home}/include/linux"]
    compiler = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *include]
    subprocess.run([*compiler, "-o", library, ROOT / "tests/guest/places.c"], check=True)
    linked = folder / "jdk"
    subprocess.run([home / "bin/jlink", "--add-modules", "java.base", "--output", linked], check=True)
    root.add(with_class_data(linked), "/jdk")
    root.add(library, "/libplaces.so")
    root.add(programs, "/classes")


def with_class_data(jdk: Path) -> Path:
    """With the archive of its classes, from which a JVM starts sooner."""
    subprocess.run([jdk / "bin/java", "-Xshare:dump"], check=True, capture_output=True, env=clean_environment())
    return jdk
