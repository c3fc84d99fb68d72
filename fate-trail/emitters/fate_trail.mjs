// Fate trails from JavaScript, in one file: copy it into your project. Any engine with ES2020 modules, nothing else.
//
//     const trail = new Trail("7");                                // the first stage is at offset zero
//     trail.stamp("POSTED", "orders");
//     trail.stamp("TURN_START", "orders", {}, { timed: false });   // ordered by its place; prints (+?)
//     trail.stamp("HANDLER_ENTER", "orders", {}, { timed: false });
//     trail.stamp("HANDLER_EXIT", "orders", { state: "processed" });
//     console.log(trail.line("handled"));
//
// A trail belongs to one delivery. It keeps its first four and its last ten stages and counts the rest, so that
// its memory is bounded. Tokens come from the registry (`fixtures/data/contract/stages.txt`) or are an application's
// own with a dot inside. The text is that of `fate-trail/docs/trail-text.md`, grammar version 1.0. A time in
// microseconds is a BigInt or a safe integer.

export const GRAMMAR_VERSION = "1.0";
const HEAD_ENTRIES = 4;
const TAIL_ENTRIES = 10;

// Microseconds of 0000-01-01 and of 10000-01-01, between which RFC 3339 can write a time.
const FIRST = -62_167_219_200_000_000n;
const END = 253_402_300_800_000_000n;

const isPlain = (byte) => byte > 0x20 && byte < 0x7f && !"()@=|,%\"&'<>\\".includes(String.fromCharCode(byte));
const isVerdict = (byte) => isPlain(byte) || "()@=,".includes(String.fromCharCode(byte));

function encode(text, plain = isPlain) {
  let out = "";
  for (const byte of new TextEncoder().encode(text)) {
    out += plain(byte) ? String.fromCharCode(byte) : "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  }
  return out;
}

// A name: an id, token, hub or key. An empty one is a dash, and a dash is a code.
const word = (text) => (text === "" ? "-" : text === "-" ? "%2D" : encode(text));

// Spaces stay inside and are codes at both ends.
function verdictText(text) {
  if (text === "" || text === "-") return word(text);
  const chars = [...text];
  const last = chars.length - 1;
  return chars.map((c, i) => (c === " " && i > 0 && i < last ? c : encode(c, isVerdict))).join("");
}

// An array is joined with commas; `true` and `false` are 1 and 0.
function valueText(value) {
  if (value instanceof AtLeast) return `${value.number}+`;
  if (Array.isArray(value)) return value.map((element) => encode(String(element))).join(",");
  return encode(String(typeof value === "boolean" ? Number(value) : value));
}

function rfc3339(time) {
  let micros = BigInt(time);
  micros = micros < FIRST ? FIRST : micros >= END ? END - 1n : micros;
  // Times before the epoch round down, as the fraction counts up.
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((micros - fraction) / 1000n)).toISOString().slice(0, 19);
  return `${seconds}.${fraction.toString().padStart(6, "0")}Z`;
}

/** A number of which only a lower bound is known; prints with a trailing `+`. */
export class AtLeast {
  constructor(number) {
    this.number = number;
  }
}

// Stages in order, the middle of a long way counted and not kept.
class Way {
  stages = [];
  missing = 0;

  add(stage) {
    this.stages.push(stage);
    if (this.stages.length > HEAD_ENTRIES + TAIL_ENTRIES) {
      this.stages.splice(HEAD_ENTRIES, 1);
      this.missing += 1;
    }
  }

  text() {
    const entries = [...this.stages];
    if (this.missing > 0 || entries.length === 0) entries.splice(HEAD_ENTRIES, 0, `gap=${this.missing}`);
    return entries.join(" | ");
  }
}

/** The way of one delivery; `at` is when its first stage is, in microseconds since the Unix epoch, or null. */
export class Trail {
  #start = performance.now();
  #way = new Way();
  #replies = [];

  constructor(id, at = Math.trunc((performance.timeOrigin + performance.now()) * 1000)) {
    this.id = String(id);
    this.at = at;
  }

  /** Stamps a stage now, with details in the order in which they are given. */
  stamp(token, hub, details = {}, { timed = true } = {}) {
    const first = this.#way.stages.length === 0 && this.#replies.length === 0;
    const now = first ? 0 : Math.trunc((performance.now() - this.#start) * 1000);
    this.stampAt(timed ? now : null, token, hub, Object.entries(details));
  }

  /** Stamps a stage at that many microseconds after the first, or null; details are pairs. */
  stampAt(offset, token, hub, details = []) {
    let time = "?";
    if (offset !== null) {
      const micros = BigInt(offset);
      time = `${micros / 1000n}.${(micros % 1000n).toString().padStart(3, "0")}`;
    }
    const stage = `${word(token)}@${word(hub)}(+${time})`;
    const pairs = details.map(([key, value]) => `${word(key)}=${valueText(value)}`);
    const reply = this.#replies[this.#replies.length - 1];
    (reply ? reply.way : this.#way).add([stage, ...pairs].join(" "));
  }

  /** What is stamped from now on stands on the way of that reply, 1 for the first. */
  reply(number) {
    this.#replies.push({ number, way: new Way() });
  }

  /** The trail on one line, without a line break; printable ASCII only. */
  line(verdict = null) {
    const at = this.at === null ? "" : ` at=${rfc3339(this.at)}`;
    const replies = this.#replies.map(({ number, way }) => ` <- reply#${number} ${way.text()}`).join("");
    const end = verdict === null ? "" : ` || ${verdictText(verdict)}`;
    return `fate ${word(this.id)}${at} ${this.#way.text()}${replies}${end}`;
  }

  toString() {
    return this.line();
  }
}
