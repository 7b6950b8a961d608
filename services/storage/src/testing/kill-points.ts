// A table of kill points takes minutes to drive whole. `npm test` drives a part of it, another one in each place;
// SVC_KILL_POINTS=all, as CI sets it in a step of its own, drives all of them.

// biome-ignore lint/style/noProcessEnv: a switch of the tests, not of the service
const isWhole = process.env["SVC_KILL_POINTS"] === "all";

/** Options of the test of one point of a table, which has the given number in it; every `step`th is always driven. */
export function killPoint(number: number, step: number): { skip: string | false } {
  return { skip: isWhole || number % step === 0 ? false : "SVC_KILL_POINTS=all drives it" };
}
