import { randomBytes } from "node:crypto";

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** The random end of generated names, in the alphabet of Kubernetes: no vowels, no digits that look like letters. */
export function nameSuffix(length = 5): string {
  return [...randomBytes(length)].map((byte) => alphabet[byte % alphabet.length]).join("");
}
