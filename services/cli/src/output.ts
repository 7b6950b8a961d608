// How every command speaks: words for people, one JSON value with --json, and an exit code that means something.

/** Exit codes of `svc`: 0 done, 1 it did not work, 2 it was called wrongly. */
export type Outcome = { json: unknown; text: string; exitCode?: 0 | 1 };

/** A failure that the person can act on; printed as one sentence, exit code 1. */
export class CommandError extends Error {
  override name = "CommandError";
}

export function print(outcome: Outcome, asJson: boolean): void {
  process.stdout.write(asJson ? `${JSON.stringify(outcome.json)}\n` : `${outcome.text}\n`);
  process.exitCode = outcome.exitCode ?? 0;
}

/** Left-aligned columns with two spaces between them. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
