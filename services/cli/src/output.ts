// Output of commands: text for people, one JSON value with --json, and an exit code.

/** Text of the help. */
export const exitCodes = "Exit codes: 0 success (or a plan was printed), 1 failure, 2 wrong usage.";

/**
 * Exit code 2 is wrong usage, and a plan of `svc db restore` that nobody confirmed; 3 another off-site key; 4 a plan of
 * `svc offsite take-over` that nobody confirmed.
 */
export type Outcome = { json: unknown; text: string; exitCode?: 0 | 1 | 2 | 3 | 4 };

/** A failure that the user can act on; printed as one sentence, exit code 1. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** Arguments that are wrong by themselves: ends with 2, as what commander refuses. */
export class UsageError extends CommandError {
  override name = "UsageError";
}

export function print(outcome: Outcome, asJson: boolean): void {
  process.stdout.write(asJson ? `${JSON.stringify(outcome.json)}\n` : `${outcome.text}\n`);
  process.exitCode = outcome.exitCode ?? 0;
}

/** The plan, printed instead of carried out while `--yes` is missing. */
export function planned(json: unknown, text: string): Outcome {
  return { json: { planned: json, done: false }, text: `${text}\nNothing was done; add --yes to do it.` };
}

/** Exits quietly when the reader of our output has gone, as with `| head`. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(process.exitCode ?? 0);
    });
  }
}

/** `key  value` line by line; nested values as JSON. */
export function fields(record: object): string {
  return Object.entries(record)
    .map(
      ([key, value]) =>
        `${key.padEnd(18)} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
    )
    .join("\n");
}

const systemWords: Record<string, (path: string) => string> = {
  ENOENT: (path) => `${path} not found`,
  EACCES: (path) => `no permission for ${path}; check its owner`,
  EPERM: (path) => `no permission to change ${path}; check its owner`,
  EISDIR: (path) => `${path} is a folder, not a file`,
  ENOTDIR: (path) => `part of ${path} is not a folder`,
  EEXIST: (path) => `${path} already exists; choose another name`,
  ENOSPC: () => "the disk is full; free some space and try again",
  EROFS: (path) => `${path} is on a read-only file system`,
  ECONNREFUSED: (address) => `no answer at ${address}; is the stack running? Check with \`svc doctor\``,
  ECONNRESET: (address) => `connection to ${address} was reset; try again`,
};

const unnamed = (code = "") => (code.startsWith("ECONN") ? "that address" : "what was named");

/** One sentence for the user, also for system errors. */
export function explainError(error: unknown): string {
  const seen = systemFault(error);
  if (seen) return seen;
  const message = error instanceof Error ? error.message : String(error);
  const isOurs = error instanceof CommandError || (error instanceof Error && error.name.endsWith("Error"));
  return isOurs ? message : `unexpected: ${message}`;
}

function systemFault(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof CommandError) return undefined;
  const { code, path, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const say = code === undefined ? undefined : systemWords[code];
  if (say) return say(path ?? (address === undefined ? unnamed(code) : `${address}:${port}`));
  if (error instanceof AggregateError && error.errors.length > 0) return systemFault(error.errors[0]);
  return systemFault(error.cause);
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

export function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power]}`;
}
