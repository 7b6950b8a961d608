import type { GameServer } from "flying-squid";
import { type Log, plain } from "../console/log.ts";
import type { Capture } from "../console/plugin.ts";

export type CommandRunner = (line: string) => Promise<string>;

/** Runs a line as the console does and answers with everything that it printed. */
export function createCommandRunner(server: GameServer, capture: Capture, log: Log): CommandRunner {
  return async (line) => {
    const command = line.replace(/^\//, "").trim();
    if (command === "") return "";
    const { value, printed } = await capture.run(async () => {
      try {
        return await server.commands.use(command);
      } catch (error) {
        return explain(command, error, log);
      }
    });
    return [...printed, ...(value ? [plain(value)] : [])].join("\n");
  };
}

export function explain(command: string, error: unknown, log: Log): string {
  if (!(error instanceof Error)) return String(error);
  // flying-squid marks what the caller did wrong; everything else is a fault in the command.
  if (!("userError" in error)) {
    log.error(`The command "${command}" failed: ${error.stack}`);
    return `The command failed: ${error.message}`;
  }
  const isUnknown = error.message === "Command not found";
  return isUnknown ? 'Unknown or incomplete command. Type "help" for a list.' : error.message;
}
