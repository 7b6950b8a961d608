// `npm test -- --slow` runs part of the tables and loads that take minutes, `npm test -- --whole` all of them. The files that
// ask for it are named *.sampled.test.ts.

// biome-ignore lint/style/noProcessEnv: a switch of the tests, not of a service
const env = process.env;

/** Whether all of it is to run. */
export const isWhole = env["SVC_TESTS"] === "whole";

/** Options of a test that only the whole run has. */
export const wholeOnly: { skip: string | false } = { skip: isWhole ? false : "npm test -- --whole runs it" };

/** Options of the test of row `number` of a table; every `step`th always runs. */
export function killPoint(number: number, step: number): { skip: string | false } {
  return { skip: isWhole || number % step === 0 ? false : "npm test -- --whole runs it" };
}

/** How many of something a test creates: `whole` of them, or the usual number. */
export function many(whole: number, usual: number): number {
  return isWhole ? whole : usual;
}

/** All rows of a table, or `count` of them spread over it, with the first and the last. */
export function sampleOf<T>(table: readonly T[], count: number): readonly T[] {
  if (isWhole || table.length <= count) return table;
  const positions = new Set(
    Array.from({ length: count }, (_, n) => Math.round((n * (table.length - 1)) / Math.max(1, count - 1))),
  );
  return table.filter((_, position) => positions.has(position));
}
