import { StackError } from "../error.ts";
import { runCommand } from "../process/run.ts";

/** The oldest server that svc works with: older ones drop unknown fields silently (architecture.md 3). */
export const oldestNats = "2.11.0";

/** Version of a server binary as `-v` prints it; undefined when the file is no nats-server or can't run here. */
export async function readNatsVersion(binary: string): Promise<string | undefined> {
  const run = await runCommand(binary, ["-v"]);
  return run.code === 0 ? /v(\d+\.\d+\.\d+)/.exec(run.output)?.[1] : undefined;
}

function numbers(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10));
}

export function isNewEnough(version: string): boolean {
  const [floor, found] = [numbers(oldestNats), numbers(version)];
  for (const [index, least] of floor.entries()) {
    const value = found[index] ?? 0;
    if (value !== least) return value > least;
  }
  return true;
}

/** Checks the binary that somebody named explicitly; there is no silent way around a wrong one. */
export async function requireNats(binary: string): Promise<string> {
  const version = await readNatsVersion(binary);
  if (version === undefined) {
    throw new StackError(
      `SVC_NATS_SERVER names ${binary}, which is no nats-server that runs here; correct or unset the variable`,
    );
  }
  if (isNewEnough(version)) return binary;
  throw new StackError(
    `SVC_NATS_SERVER names nats-server ${version}, and svc needs ${oldestNats} or newer; name a newer one or unset it`,
  );
}
