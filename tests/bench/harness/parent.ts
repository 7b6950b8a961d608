// The other end of `child.ts`: what a helper process does with the questions of the bench.

type Question = { id: number; command: string; argument: unknown };
type Commands = Record<string, (argument: never) => unknown>;

/** Answers the bench's questions by name and ends when the bench does. `ready` is answered at once. */
export function serveParent(commands: Commands): void {
  const answer = async ({ id, command, argument }: Question) => {
    try {
      const run = command === "ready" ? () => true : commands[command];
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
