// The other end of `child.ts`: what a helper process does with the questions of the bench.

type Question = { id: number; command: string; argument: unknown };
type Commands = Record<string, (argument: never) => unknown>;

/** Resident memory of a process now, and the most it ever had. */
export type Memory = { nowMb: number; peakMb: number };

const own: Commands = {
  ready: () => true,
  memory: (): Memory => ({
    nowMb: process.memoryUsage.rss() / 1e6,
    peakMb: (process.resourceUsage().maxRSS * 1_024) / 1e6,
  }),
};

/** Answers the bench's questions by name and ends when the bench does. `ready` and `memory` everybody answers. */
export function serveParent(commands: Commands): void {
  const answer = async ({ id, command, argument }: Question) => {
    try {
      const run = own[command] ?? commands[command];
      if (!run) throw new Error(`there is no command ${command}`);
      process.send?.({ id, value: await run(argument as never) });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  };
  process.on("message", (message) => void answer(message as Question));
  process.on("disconnect", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
}

/** A required variable of the environment. */
export function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}
