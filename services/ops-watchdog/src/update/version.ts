// Versions of components: numbers with dots, such as 18.4, v24.21.0 or 0.1.0.

/** The numbers of a version; undefined for what is none. Builds and pre-releases behind them do not count. */
export function numbersOf(version: string): number[] | undefined {
  const [, digits] = /^[^\d]{0,8}(\d{1,6}(?:\.\d{1,6}){0,3})/.exec(version.trim()) ?? [];
  return digits?.split(".").map(Number);
}

/** Negative when `a` is older than `b`. */
export function compareVersions(a: readonly number[], b: readonly number[]): number {
  const places = Math.max(a.length, b.length);
  for (let place = 0; place < places; place += 1) {
    const difference = (a[place] ?? 0) - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The newest of `versions`, of one major version only when `major` is given. */
export function newestOf(versions: readonly string[], major?: number): string | undefined {
  let newest: { text: string; numbers: number[] } | undefined;
  for (const text of versions) {
    const numbers = numbersOf(text);
    if (!numbers || (major !== undefined && numbers[0] !== major)) continue;
    if (!newest || compareVersions(newest.numbers, numbers) < 0) newest = { text, numbers };
  }
  return newest?.text;
}
