// Lists of checks with what is wrong, as `svc doctor` prints them.

import type { Outcome } from "./output.ts";

export type Finding = { check: string; ok: boolean; detail: string };

/** One check: it is fine when `run` resolves with a detail. */
export async function attempt(check: string, run: () => Promise<string>): Promise<Finding> {
  try {
    return { check, ok: true, detail: await run() };
  } catch (error) {
    return { check, ok: false, detail: (error as Error).message };
  }
}

/** Exit code 1 when there is a problem. */
export function findingsOutcome(findings: readonly Finding[]): Outcome {
  const isHealthy = findings.every((finding) => finding.ok);
  const width = Math.max(24, ...findings.map(({ check }) => check.length));
  const lines = findings.map(
    ({ ok, check, detail }) => `${ok ? "ok " : "BAD"}  ${check.padEnd(width)} ${detail}`,
  );
  return {
    json: { healthy: isHealthy, findings },
    text: [...lines, "", isHealthy ? "No problems found." : "Problems found; see the lines marked BAD."].join(
      "\n",
    ),
    exitCode: isHealthy ? 0 : 1,
  };
}
