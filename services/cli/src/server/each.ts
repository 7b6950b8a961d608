// One command for several servers (docs/reference/cli.md#several), each with an answer of its own.

import { RefusedError } from "../account/refusal.ts";
import { explainError, type Outcome, table } from "../output.ts";

/** Requests under way at once. */
const atOnce = 4;

/** `left_out`: not asked, because one before it could not be asked at all. */
type Result = {
  name: string;
  result: "done" | "failed" | "left_out";
  answer?: unknown;
  code?: string;
  message: string;
};

/**
 * Does one thing to each server; one that is refused keeps no other from its turn, and one that cannot be asked, as
 * without a session, keeps all others. A single name has the outcome, or the error, of the act itself.
 */
export async function eachServer(
  given: readonly string[],
  act: (name: string) => Promise<Outcome>,
): Promise<Outcome> {
  const names = [...new Set(given)];
  const [only] = names;
  if (only !== undefined && names.length === 1) return act(only);
  const results = names.map((name): Result => ({ name, result: "left_out", message: "not asked" }));
  const waiting = [...names.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [at, name] = next;
      results[at] = await act(name).then(
        (outcome) => answered(name, outcome),
        (error: unknown) => {
          if (!(error instanceof RefusedError)) waiting.length = 0;
          return failed(name, error);
        },
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const rows = results.map(({ name, result, code, message }) => [name, code ?? words[result], message]);
  return {
    json: { results },
    text: table([["SERVER", "RESULT", "SAYS"], ...rows]),
    exitCode: results.every(({ result }) => result === "done") ? 0 : 1,
  };
}

const words = { done: "done", failed: "failed", left_out: "left out" } as const;

/** A table of several lines stands in one. */
function lineOf(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join("; ");
}

function answered(name: string, { json, text, exitCode = 0 }: Outcome): Result {
  const result = exitCode === 0 ? "done" : "failed";
  return { name, result, answer: json, message: lineOf(text) };
}

function failed(name: string, error: unknown): Result {
  const code = error instanceof RefusedError && { code: error.code };
  return { name, result: "failed", ...code, message: lineOf(explainError(error)) };
}
