#!/usr/bin/env python3
"""Writes schema/*.sql as a C file: embed_schema.py SCHEMA_DIR OUTPUT DEPFILE."""
import pathlib
import re
import sys

HEAD = """/* Made by collector/store/embed_schema.py from schema/. */
#include "collector/store/schema_files.h"

"""


def c_bytes(name, data):
    """A NUL-terminated array: string literals may not be this long."""
    numbers = ",".join(str(byte) for byte in data + b"\0")
    return f"static const unsigned char {name}[] = {{{numbers}}};\n"


def main(schema_dir, output, depfile):
    schema = pathlib.Path(schema_dir)
    bootstrap = schema / "bootstrap.sql"
    migrations = sorted(path for path in schema.glob("*.sql") if path != bootstrap)
    text = HEAD + c_bytes("bootstrap", bootstrap.read_bytes())
    entries = ""
    for number, path in enumerate(migrations, start=1):
        if not re.fullmatch(rf"{number:04}_[a-z0-9_]+\.sql", path.name):
            sys.exit(f"{path.name}: migration {number} must be named {number:04}_what.sql")
        text += c_bytes(f"migration_{number}", path.read_bytes())
        entries += f'    {{{number}, "{path.name}", (const char *)migration_{number}}},\n'
    text += "\nconst char *const fp_schema_bootstrap = (const char *)bootstrap;\n"
    text += f"const struct fp_schema_file fp_schema_files[] = {{\n{entries}}};\n"
    text += f"const size_t fp_schema_file_count = {len(migrations)};\n"
    pathlib.Path(output).write_text(text)
    # The directory itself: a new file is noticed too.
    inputs = " ".join(str(path) for path in [schema, bootstrap, *migrations])
    pathlib.Path(depfile).write_text(f"{pathlib.Path(output).name}: {inputs}\n")


main(*sys.argv[1:])
