// Prints what `fate_trail.mjs` writes for each case of a file of golden lines: `node drive.mjs lines.txt`.

import { readFileSync } from "node:fs";
import { AtLeast, Trail } from "../fate_trail.mjs";

const ESCAPES = { "\\t": "\t", "\\n": "\n", "\\\\": "\\" };
const unescape = (field) => field.replace(/\\[tn\\]/g, (escape) => ESCAPES[escape]);

let trail = null;
let stage = null;
let verdict = null;

// Details follow their stage, so a stage is stamped when the next step comes.
function flush() {
  if (stage) trail.stampAt(stage.offset, stage.token, stage.hub, stage.details);
  stage = null;
}

for (const line of readFileSync(process.argv[2], "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  const [name, ...fields] = line.split("\t").map(unescape);
  if (name === "detail") {
    stage.details.push([fields[0], fields.length > 2 ? fields.slice(1) : fields[1]]);
    continue;
  }
  if (name === "atleast") {
    stage.details.push([fields[0], new AtLeast(BigInt(fields[1]))]);
    continue;
  }
  flush();
  if (name === "id") [trail, verdict] = [new Trail(fields[0], null), null];
  if (name === "at") trail.at = BigInt(fields[0]);
  if (name === "stage") {
    stage = { offset: fields[0] === "?" ? null : BigInt(fields[0]), token: fields[1], hub: fields[2], details: [] };
  }
  if (name === "reply") trail.reply(Number(fields[0]));
  if (name === "verdict") verdict = fields[0];
  if (name === "line") console.log(trail.line(verdict));
}

const live = new Trail("live");
live.stamp("POSTED", "orders");
live.stamp("HANDLER_EXIT", "orders", { state: "processed" }, { timed: false });
console.log(String(live));
