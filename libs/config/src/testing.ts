// Tables and crowds that take minutes are driven in part by `npm test`, and whole by `npm test -- --whole`, a step of
// CI of its own that runs just the files which import this one.

// biome-ignore lint/style/noProcessEnv: a switch of the tests, not of a service
const env = process.env;

/** Whether everything is to be driven. */
export const isWhole = env["SVC_TESTS"] === "whole";

/** Options of the test of one point of a table, which has the given number in it; every `step`th is always driven. */
export function killPoint(number: number, step: number): { skip: string | false } {
  return { skip: isWhole || number % step === 0 ? false : "npm test -- --whole drives it" };
}

/** How many of something a test makes: `whole` of them, or what is usual. */
export function many(whole: number, usual: number): number {
  return isWhole ? whole : usual;
}

/** All entries of a table, or `count` of them spread over it, the first and the last among them. */
export function sampleOf<T>(table: readonly T[], count: number): readonly T[] {
  if (isWhole || table.length <= count) return table;
  const places = new Set(
    Array.from({ length: count }, (_, n) => Math.round((n * (table.length - 1)) / Math.max(1, count - 1))),
  );
  return table.filter((_, place) => places.has(place));
}
