/**
 * Exact rationals, and the lower bounds on exponentials and roots that the library takes.
 *
 * A port of the parts of `mechdesign/exact.py` that the repair needs. The numbers must be the same
 * to the last bit, so that a channel repaired here is the one that the library would save.
 */

export interface Ratio {
  /** Numerator. */
  readonly n: bigint;
  /** Denominator, above 0; the fraction is in lowest terms. */
  readonly d: bigint;
}

const PRECISION = 160n;
const LARGEST_EXPONENT = 4096n;

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y) [x, y] = [y, x % y];
  return x;
}

/** The fraction n / d in lowest terms. */
export function ratio(n: bigint, d = 1n): Ratio {
  const sign = d < 0n ? -1n : 1n;
  const common = gcd(n, d) || 1n;
  return { n: (sign * n) / common, d: (sign * d) / common };
}

export const ZERO: Ratio = { n: 0n, d: 1n };
export const ONE: Ratio = { n: 1n, d: 1n };

export const add = (a: Ratio, b: Ratio): Ratio => ratio(a.n * b.d + b.n * a.d, a.d * b.d);
export const subtract = (a: Ratio, b: Ratio): Ratio => ratio(a.n * b.d - b.n * a.d, a.d * b.d);
export const multiply = (a: Ratio, b: Ratio): Ratio => ratio(a.n * b.n, a.d * b.d);
export const divide = (a: Ratio, b: Ratio): Ratio => ratio(a.n * b.d, a.d * b.n);
export const compare = (a: Ratio, b: Ratio): number => {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

const DECIMAL = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?\s*$/;

/** The rational that a decimal, or a fraction of two whole numbers, stands for. */
export function parseRatio(text: string | number): Ratio {
  const [top, bottom, ...more] = String(text).split("/");
  if (bottom !== undefined) {
    const whole = /^\s*\d+\s*$/;
    if (more.length || !/^\s*-?\d+\s*$/.test(top) || !whole.test(bottom) || BigInt(bottom) === 0n) {
      throw new Error(`expected a number, given ${text}`);
    }
    return ratio(BigInt(top), BigInt(bottom));
  }
  const found = DECIMAL.exec(top);
  if (!found || !(found[2] || found[3])) throw new Error(`expected a number, given ${text}`);
  const [, sign, whole, after = "", exponent = "0"] = found;
  const digits = BigInt(whole + after) * (sign === "-" ? -1n : 1n);
  const power = Number(exponent) - after.length;
  return power >= 0 ? ratio(digits * 10n ** BigInt(power)) : ratio(digits, 10n ** BigInt(-power));
}

/** The shortest exact text of a rational, as in saved files: `1`, `0.1` or `1/3`. */
export function ratioText(value: Ratio): string {
  if (value.d === 1n) return String(value.n);
  const text = floatText(toNumber(value));
  return compare(parseRatio(text), value) === 0 ? text : `${value.n}/${value.d}`;
}

/** A float as Python prints it: at least two digits in the exponent, and `.0` on whole numbers. */
export function floatText(value: number): string {
  const text = value.toExponential();
  const [digits, exponent] = text.split("e");
  const power = Number(exponent);
  if (value !== 0 && (power < -4 || power >= 16)) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  if (Object.is(value, -0)) return "-0.0";
  const plain = power < 0 ? value.toFixed(digits.replace(/[-.]/g, "").length - 1 - power) : String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}

const bitLength = (value: bigint): number => (value < 0n ? -value : value).toString(2).length;

/** The float nearest to a rational, ties to even. */
export function toNumber(value: Ratio): number {
  if (value.n === 0n) return 0;
  const sign = value.n < 0n ? -1 : 1;
  const top = value.n < 0n ? -value.n : value.n;
  const shift = bitLength(top) - bitLength(value.d) - 66;
  let quotient = shift >= 0 ? top / (value.d << BigInt(shift)) : (top << BigInt(-shift)) / value.d;
  const back = shift >= 0 ? quotient * (value.d << BigInt(shift)) : quotient * value.d;
  const exact = shift >= 0 ? back === top : back === top << BigInt(-shift);
  if (!exact) quotient |= 1n; // a sticky bit, so that the conversion below rounds correctly
  const scale = Math.trunc(shift / 2);
  return sign * Number(quotient) * 2 ** scale * 2 ** (shift - scale);
}

function shorten(value: bigint, bits: bigint): Ratio {
  const extra = BigInt(Math.max(0, bitLength(value) - Number(PRECISION)));
  return ratio((value >> extra) << extra, 1n << bits);
}

/** A rational at most e**exponent for an exponent >= 0, right to 150 bits. */
export function expLower(exponent: Ratio): Ratio {
  if (exponent.n === 0n) return ONE;
  const capped = exponent.n > LARGEST_EXPONENT * exponent.d ? ratio(LARGEST_EXPONENT) : exponent;
  const ceiling = -(-capped.n / capped.d) + (capped.n % capped.d === 0n ? 0n : 1n);
  const halvings = Math.max(0, bitLength(ceiling) + 8); // the reduced argument is below 2**-8
  const bits = PRECISION + 2n * BigInt(halvings) + 32n;
  const one = 1n << bits;
  const reduced = (capped.n << bits) / (capped.d << BigInt(halvings));
  let [total, term, k] = [one, one, 0n];
  while (term) {
    k += 1n;
    term = (term * reduced) / (k << bits);
    total += term;
  }
  for (let i = 0; i < halvings; i++) total = (total * total) >> bits;
  return shorten(total, bits);
}

/** The whole part of the square root of an integer >= 0. */
export function integerRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** A rational at most the root of `value`; exact where the root is rational. */
export function rootLower(value: Ratio): Ratio {
  const [top, bottom] = [integerRoot(value.n), integerRoot(value.d)];
  if (top * top === value.n && bottom * bottom === value.d) return ratio(top, bottom);
  return ratio(integerRoot((value.n * value.d) << (2n * PRECISION)), value.d << PRECISION);
}
