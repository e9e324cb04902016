"""Runs the Python blocks of a Markdown file as one program: the files in doc/ keep their word."""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
if not blocks:
    sys.exit("no Python blocks in " + sys.argv[1])
exec(compile("\n".join(blocks), sys.argv[1], "exec"), {})
