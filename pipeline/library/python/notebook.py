"""Runs the code cells of a notebook, one after the other: python3 notebook.py FILE.ipynb"""

import json
import sys

with open(sys.argv[1]) as f:
    cells = [c for c in json.load(f)["cells"] if c["cell_type"] == "code"]
names = {"__name__": "__main__"}
for cell in cells:
    exec(compile("".join(cell["source"]), sys.argv[1], "exec"), names)
print(len(cells), "cells ran")
