const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;
const decimalPowers: Record<string, number> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const nano = 1_000_000_000n;

/** A parsed quantity: nano-units, so that `1m` and `0.5Gi` are whole numbers. Undefined for malformed text. */
export function parseQuantity(text: string): bigint | undefined {
  const match = pattern.exec(text);
  if (!match || (match[2] === "" && !match[3])) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  const digits = BigInt(`${whole}${fraction}` || "0");
  const binary = binarySuffixes.indexOf(suffix);
  const exponent = /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (decimalPowers[suffix] ?? 0);
  if (Math.abs(exponent) > 24 || fraction.length > 30) return undefined;
  let value = digits * nano;
  if (binary > 0) value *= 1024n ** BigInt(binary);
  else value = exponent >= 0 ? value * 10n ** BigInt(exponent) : roundUp(value, 10n ** BigInt(-exponent));
  value = roundUp(value, 10n ** BigInt(fraction.length));
  return sign === "-" ? -value : value;
}

function roundUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/** The canonical text of a quantity (`1024Mi` is `1Gi`, `0.5` is `500m`); undefined for malformed text. */
export function canonicalQuantity(text: string): string | undefined {
  const value = parseQuantity(text);
  if (value === undefined) return undefined;
  if (value === 0n) return "0";
  const sign = value < 0n ? "-" : "";
  const size = value < 0n ? -value : value;
  if (/i$/.test(text) && size >= 1024n * nano && size % nano === 0n) return sign + binaryText(size / nano);
  return sign + decimalText(size, /[eE]/.test(text) && !text.endsWith("E"));
}

function binaryText(size: bigint): string {
  let rest = size;
  let step = 0;
  while (step < binarySuffixes.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    step += 1;
  }
  return `${rest}${binarySuffixes[step]}`;
}

function decimalText(size: bigint, exponentForm: boolean): string {
  let rest = size;
  let power = -9;
  while (power < 18 && rest % 1000n === 0n) {
    rest /= 1000n;
    power += 3;
  }
  if (exponentForm) return power === 0 ? `${rest}` : `${rest}e${power}`;
  const suffix = Object.keys(decimalPowers).find((key) => decimalPowers[key] === power) ?? "";
  return `${rest}${suffix}`;
}
