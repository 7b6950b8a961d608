// Versions of the game: the number of a version's protocol, and its names (docs/reference/images.md#versions).
// Vocabulary: protocol = what a client says at its handshake, the same for versions that can play together.

/** The supported protocols, oldest first: number, the newest name that all our tools know, what players call it. */
export const gameVersions: readonly (readonly [protocol: number, name: string, label: string])[] = [
  [766, "1.20.6", "1.20.5-1.20.6"],
  [767, "1.21.1", "1.21-1.21.1"],
  [768, "1.21.3", "1.21.2-1.21.3"],
  [769, "1.21.4", "1.21.4"],
  [770, "1.21.5", "1.21.5"],
  [771, "1.21.6", "1.21.6"],
  [772, "1.21.8", "1.21.7-1.21.8"],
  [773, "1.21.9", "1.21.9-1.21.10"],
  [774, "1.21.11", "1.21.11"],
  [775, "26.1", "26.1-26.1.2"],
];

/** What players call a protocol's version; undefined for one that this build doesn't know. */
export function versionLabel(protocol: number): string | undefined {
  return gameVersions.find(([number]) => number === protocol)?.[2];
}

/** The protocol of a version by any of its names, `1.21` and `1.21.1` alike; undefined for one that we don't know. */
export function protocolOf(version: string): number | undefined {
  return gameVersions.find(([, , label]) => namesIn(label).includes(version))?.[0];
}

/** All names of a range: `1.21-1.21.1` is two, `26.1-26.1.2` three. */
function namesIn(label: string): string[] {
  const [first = "", last] = label.split("-");
  if (last === undefined) return [first];
  const dots = last.lastIndexOf(".");
  const family = last.slice(0, dots);
  const from = first === family ? 0 : Number(first.slice(dots + 1));
  const numbers = Array.from({ length: Number(last.slice(dots + 1)) - from + 1 }, (_, index) => from + index);
  return numbers.map((number) => (number === 0 ? family : `${family}.${number}`));
}
