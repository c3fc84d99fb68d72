"""Prints what `fate_trail.py` writes for each case of a file of golden lines: `drive.py lines.txt`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from fate_trail import AtLeast, Trail  # noqa: E402


def unescape(field):
    return "".join(
        part if i % 2 else part.replace("\\t", "\t").replace("\\n", "\n")
        for i, part in enumerate(field.replace("\\\\", "\0\\\0").split("\0"))
    )


trail, stage, verdict = None, None, None


def flush():
    """Details follow their stage, so a stage is stamped when the next step comes."""
    global stage
    if stage:
        trail.stamp_at(*stage)
        stage = None


for line in open(sys.argv[1], encoding="utf-8"):
    line = line.rstrip("\n")
    if not line or line.startswith("#"):
        continue
    name, *fields = [unescape(field) for field in line.split("\t")]
    if name == "detail":
        stage[3].append((fields[0], fields[1:] if len(fields) > 2 else fields[1]))
        continue
    if name == "atleast":
        stage[3].append((fields[0], AtLeast(int(fields[1]))))
        continue
    if trail:
        flush()
    if name == "id":
        trail, verdict = Trail(fields[0], at=None), None
    elif name == "at":
        trail.at = int(fields[0])
    elif name == "stage":
        stage = (None if fields[0] == "?" else int(fields[0]), fields[1], fields[2], [])
    elif name == "reply":
        trail.reply(int(fields[0]))
    elif name == "verdict":
        verdict = fields[0]
    elif name == "line":
        print(trail.line(verdict))

live = Trail("live")
live.stamp("POSTED", "orders")
live.stamp("HANDLER_EXIT", "orders", timed=False, state="processed")
print(live)
