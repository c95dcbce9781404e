"""Records a real gcc build under strace: `python benchmarks/record_build.py OUT [--files 40] [--keep FOLDER]`.

Writes a small C project (one library of many files with shared headers, one program), runs `make -j2` on it under strace,
and leaves the trace at OUT. Leaves with status 77 and says why when strace, gcc or make is missing.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# The list of tests/rig/record.py, so that a build's trace and an agent's show the same calls.
TRACED = (
    "%process,%file,%network,read,write,readv,writev,preadv,pwritev,preadv2,pwritev2,close,pread64,pwrite64,ftruncate,"
    "dup,dup2,dup3,pipe,pipe2,fchdir,fcntl,copy_file_range,sendfile,splice,tee,memfd_create,mmap,io_uring_setup,eventfd2"
)
SKIPPED = 77
HEADERS = 6


def write_project(folder: Path, files: int) -> None:
    """A project whose sources each include three of the headers; every part is called from `main.c`."""
    (folder / "src").mkdir(parents=True)
    (folder / "include").mkdir()
    for number in range(HEADERS):
        below = f'#include "shared_{number - 1}.h"\n' if number else "#include <stddef.h>\n"
        (folder / f"include/shared_{number}.h").write_text(
            f"#pragma once\n{below}#define FACTOR_{number} {number + 2}\n"
            f"static inline long scale_{number}(long value) {{ return value * FACTOR_{number}; }}\n"
        )
    for number in range(files):
        first, second = number % HEADERS, (number * 5 + 1) % HEADERS
        (folder / f"src/part_{number:02}.h").write_text(f"#pragma once\nlong part_{number:02}(long value);\n")
        (folder / f"src/part_{number:02}.c").write_text(
            f'#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include "shared_{first}.h"\n'
            f'#include "shared_{second}.h"\n#include "part_{number:02}.h"\n\n'
            f"long part_{number:02}(long value) {{\n    char text[64];\n"
            f'    snprintf(text, sizeof text, "%ld", scale_{first}(value));\n'
            f"    return strtol(text, NULL, 10) + (long)strlen(text) + scale_{second}({number});\n}}\n"
        )
    includes = "".join(f'#include "part_{number:02}.h"\n' for number in range(files))
    calls = "".join(f"    total += part_{number:02}(total);\n" for number in range(files))
    (folder / "src/main.c").write_text(
        f'#include <stdio.h>\n{includes}\nint main(void) {{\n    long total = 1;\n{calls}    printf("%ld\\n", total % 1000);\n'
        "    return 0;\n}\n"
    )
    (folder / "Makefile").write_text(
        "CFLAGS = -O1 -Iinclude -MMD\nPARTS = $(patsubst src/%.c,build/%.o,$(wildcard src/part_*.c))\n\n"
        "build/program: build/main.o build/libparts.a\n\t$(CC) -o $@ $^\n\n"
        "build/libparts.a: $(PARTS)\n\tar rcs $@ $^\n\n"
        "build/%.o: src/%.c | build\n\t$(CC) $(CFLAGS) -c -o $@ $<\n\n"
        "build:\n\tmkdir -p build\n\n-include $(wildcard build/*.d)\n"
    )


def record_build(out: Path, folder: Path) -> None:
    """Traces `make -j2` in `folder`; raises `CalledProcessError` when the build fails."""
    command = ["strace", "-f", "-ttt", "-yy", "-s", "64", "-e", f"trace={TRACED}", "-o", str(out), "make", "-j2"]
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path, help="where the trace goes")
    parser.add_argument("--files", type=int, default=40, help="source files of the library")
    parser.add_argument("--keep", type=Path, help="build here, in a folder that does not exist yet, and leave it")
    options = parser.parse_args(arguments)
    if missing := [name for name in ("strace", "gcc", "make") if shutil.which(name) is None]:
        print(f"skipped: {', '.join(missing)} not found; install it to record a build", file=sys.stderr)
        return SKIPPED
    out = options.out.resolve()
    started = time.monotonic()
    if options.keep:
        write_project(options.keep, options.files)
        record_build(out, options.keep.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="build-") as folder:
            write_project(Path(folder), options.files)
            record_build(out, Path(folder))
    with out.open("rb") as trace:
        lines = sum(1 for _ in trace)
    seconds = time.monotonic() - started
    print(f"{out}: {lines} lines, {out.stat().st_size} bytes, {seconds:.1f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
