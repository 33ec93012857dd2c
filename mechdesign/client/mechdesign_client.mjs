// mechdesign client for JavaScript: draws private reports with exactly the certified probabilities.
//
//     import { Client } from "./mechdesign_client.mjs";
//     const client = new Client(table);                  // mechdesign_table.json, parsed
//     const report = client.permanent("yes", localStorage); // as `mechdesign estimate` reads it
//
// All probabilities are multiples of 2^-62, and every draw is integer arithmetic on random
// little-endian 64-bit words. Runs in browsers, workers, Node and Deno.

const BITS = 62n;

/** Fill a buffer with unpredictable random bytes. */
export function systemRandom(bytes) {
  globalThis.crypto.getRandomValues(bytes);
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** 1 where a < b for unsigned 32-bit numbers, else 0; and 1 where a = b. No branches. */
const isBelow = (a, b) => ((~a & b) | ((~a | b) & (a - b))) >>> 31;
const isEqual = (a, b) => 1 ^ (((a ^ b) | -(a ^ b)) >>> 31);

/** Labels as text: a number n denotes 0, ..., n - 1. */
class Labels {
  constructor(given) {
    this.size = typeof given === "number" ? given : given.length;
    this.text = typeof given === "number" ? String : (number) => given[number];
    this.numbers = typeof given === "number" ? null : new Map(given.map((text, n) => [text, n]));
  }

  has(number) {
    return Number.isInteger(number) && number >= 0 && number < this.size;
  }

  /** The number of a label; errors do not quote it, since it may be private. */
  number(text) {
    const number = this.numbers ? this.numbers.get(String(text)) : Number(text);
    if (!this.has(number) || this.text(number) !== String(text)) {
      throw new RangeError("expected a label of the table, given another");
    }
    return number;
  }
}

/**
 * The alias table: the first bits of a word select a cell of the row, and the others are compared
 * with its threshold: below it the report is the cell, else the alias. In 32-bit halves, as BigInt
 * arithmetic does not take constant time.
 */
class AliasTable {
  constructor({ cell_bits: bits, thresholds, aliases }) {
    const [cells, others] = [bytesOf(thresholds), bytesOf(aliases)].map((b) => new DataView(b.buffer));
    this.bits = Number(bits);
    this.size = others.byteLength / 2;
    this.low = Uint32Array.from({ length: this.size }, (_, i) => cells.getUint32(8 * i, true));
    this.high = Uint32Array.from({ length: this.size }, (_, i) => cells.getUint32(8 * i + 4, true));
    this.aliases = Uint16Array.from({ length: this.size }, (_, i) => others.getUint16(2 * i, true));
  }

  draw(row, words, all) {
    const [low, high] = words.halves();
    const cell = this.bits ? high >>> (32 - this.bits) : 0;
    const place = (row << this.bits) + cell;
    const restHigh = (high & (0xffffffff >>> this.bits)) >>> 2;
    const restLow = ((high << 30) | (low >>> 2)) >>> 0;
    let [thresholdLow, thresholdHigh, alias] = [this.low[place], this.high[place], this.aliases[place]];
    if (all) {
      thresholdLow = thresholdHigh = alias = 0;
      for (let i = 0; i < this.size; i++) {
        const here = -isEqual(i, place);
        thresholdLow |= this.low[i] & here;
        thresholdHigh |= this.high[i] & here;
        alias |= this.aliases[i] & here;
      }
    }
    const below = isBelow(restHigh, thresholdHigh) | (isEqual(restHigh, thresholdHigh) & isBelow(restLow, thresholdLow));
    return (cell & -below) | (alias & ~-below);
  }
}

/** Random words, from a function that fills bytes. */
class Words {
  constructor(random) {
    this.random = random;
    this.bytes = new Uint8Array(8);
    this.view = new DataView(this.bytes.buffer);
  }

  halves() {
    this.random(this.bytes);
    return [this.view.getUint32(0, true), this.view.getUint32(4, true)];
  }

  next() {
    this.halves();
    return this.view.getBigUint64(0, true);
  }

  /** Uniform below 2^62. */
  mass() {
    return this.next() >> 2n;
  }

  /** Uniform below a bound, by rejection of the incomplete last multiple. */
  below(bound) {
    const rounds = ((1n << BITS) / bound) * bound;
    let drawn;
    do drawn = this.mass();
    while (drawn >= rounds);
    return Number(drawn % bound);
  }
}

/** How each mechanism draws: from its integers, the number of inputs, an input and words. */
const LAWS = {
  // The others come first, `other` each, from the next input on; the rest is the truth's.
  "randomized-response"({ other }, inputs, input, words) {
    const step = Number(words.mass() / other);
    return (input + 1 + Math.min(step, inputs - 1)) % inputs;
  },

  // A number of a block, and one of 2 copies halves; where it is in the other half of its block, one
  // of its bits is flipped.
  "hadamard-response"({ size, held, copies = 1n }, inputs, input, words) {
    const [block, x, word] = [size / copies, BigInt(input), words.next()];
    const [half, row, digits] = [block / 2n, x / copies + 1n, BigInt(block.toString(2).length - 1)];
    const own = held / half;
    const other = ((1n << BITS) - held) / (2n * copies - 1n) / half;
    const chance = (word >> digits) & ((1n << (BITS + 1n - digits)) - 1n);
    const steps = chance < own ? 0n : (chance - own) / other + 1n;
    const place = (2n * (x % copies) + steps) % (2n * copies);
    let number = word & (block - 1n);
    const ones = (number & row).toString(2).replaceAll("0", "").length;
    if ((ones & 1) !== Number(place & 1n)) number ^= row & -row;
    return Number(number + (place / 2n) * block);
  },

  // All coordinates of the report but one are uniform; that one makes the product with the input 0
  // with probability held / 2^62, else 1.
  "projective-geometry-response"({ field, dimension, held }, inputs, input, words) {
    const [q, n] = [Number(field), Number(dimension)];
    const outside = field ** (dimension - 1n);
    const within = words.mass() < held;
    const point = words.below((outside - 1n) / (field - 1n));
    const number = words.below(outside);
    const y = within ? vectorOf(point, q, n - 1) : digitsOf(number, q, n - 1);
    const x = vectorOf(input, q, n);
    const lead = x.findIndex((coordinate) => coordinate !== 0);
    y.splice(lead, 0, 0);
    const sum = x.reduce((total, coordinate, i) => (total + coordinate * y[i]) % q, 0);
    y[lead] = ((within ? 0 : 1) + q - sum) % q;
    return pointOf(y, q);
  },

  "optimized-unary-encoding": unary,
  "symmetric-unary-encoding": unary,
};

/** Digits to a base, the highest first. */
function digitsOf(number, base, count) {
  const digits = Array(count);
  for (let i = count - 1; i >= 0; i--, number = Math.floor(number / base)) digits[i] = number % base;
  return digits;
}

/** The coordinates of a point: those with m behind the leading 1 come after those with fewer. */
function vectorOf(point, q, dimension) {
  let power = 1;
  for (; point >= power; power *= q) point -= power;
  return digitsOf(point + power, q, dimension);
}

/** The number of the point of a nonzero vector with any leading coordinate. */
function pointOf(vector, q) {
  const lead = vector.findIndex((coordinate) => coordinate !== 0);
  let inverse = 1;
  for (let base = vector[lead], e = q - 2; e; e = e >> 1, base = (base * base) % q) {
    if (e & 1) inverse = (inverse * base) % q;
  }
  return vector.slice(lead + 1).reduce((number, next) => number * q + 1 + ((next * inverse) % q), 0);
}

/** One coin per input with the probability `others`; then the coin of the true one is overwritten. */
function unary({ others, digits, held }, inputs, input, words) {
  const [size, set] = [Math.ceil(inputs / 8), new Uint8Array(Math.ceil(inputs / 8))];
  for (; others % 2n === 0n; others /= 2n) digits--;
  for (; digits > 0n; digits--, others /= 2n) {
    for (let i = 0; i < size; i++) {
      if (i % 8 === 0) words.halves();
      const fair = words.bytes[i % 8];
      set[i] = others % 2n ? set[i] | fair : set[i] & fair;
    }
  }
  if (inputs % 8) set[size - 1] &= (1 << inputs % 8) - 1;
  const bit = 1 << input % 8;
  set[input >> 3] = words.mass() < held ? set[input >> 3] | bit : set[input >> 3] & ~bit;
  return set;
}

export class Client {
  /**
   * @param table  what `mechdesign export` wrote as mechdesign_table.json
   * @param random  fills a Uint8Array with random bytes
   * @param constantTime  read a whole alias table for each draw, without branches on secrets: what
   *   the source can do; engines of JavaScript promise nothing of time
   */
  constructor(table, { random = systemRandom, constantTime = false } = {}) {
    if (table.format !== "mechdesign-client" || table.version !== 1) {
      throw new TypeError("expected a table of mechdesign, format 1");
    }
    const { kind, ...law } = table.law;
    this.alias = "thresholds" in law ? new AliasTable(law) : null;
    if ((!this.alias && !(kind in LAWS)) || (constantTime && !this.alias)) {
      throw new TypeError(`expected a mechanism of this client, given ${kind}`);
    }
    this.table = table;
    this.inputs = new Labels(table.inputs);
    this.outputs = "outputs" in table ? new Labels(table.outputs) : null;
    this.words = new Words(random);
    this.constantTime = constantTime;
    this.law = this.alias || Object.fromEntries(Object.entries(law).map(([key, text]) => [key, BigInt(text)]));
  }

  /** Draw for the number of an input: the number of a report, or the bytes of a set. */
  drawNumber(input) {
    if (!this.inputs.has(input)) throw new RangeError("expected the number of an input, given another");
    const { kind } = this.table.law;
    if (!this.alias) return LAWS[kind](this.law, this.inputs.size, input, this.words);
    if (kind === "channel") return this.alias.draw(input, this.words, this.constantTime);
    const drawn = this.alias.draw(0, this.words, this.constantTime); // the last output is the truth
    const truth = -isEqual(drawn, this.inputs.size);
    return (drawn & ~truth) | (input & truth);
  }

  /** Draw for a label: the report as text. Every call is a new draw, and leaks more. */
  draw(label) {
    const report = this.drawNumber(this.inputs.number(label));
    if (this.outputs) return this.outputs.text(report);
    return Array.from(report, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /**
   * The one report of this device: drawn and recorded the first time, the same ever after, whatever
   * the label is by then.
   * @param ledger  remembers text by name, as localStorage does; it holds the report, not the label
   */
  permanent(label, ledger) {
    const name = `mechdesign ${this.table.digest}`;
    const before = ledger.getItem(name) ?? null;
    if (before !== null) return before;
    const report = this.draw(label);
    ledger.setItem(name, report); // before it can be sent
    return report;
  }
}
