import { AsyncLocalStorage } from "node:async_hooks";
import type { Plugin } from "flying-squid";
import { type Log, oneLine, plain } from "./log.ts";

/** Collects what flying-squid's commands print, so that it can be the reply to who asked. */
export type Capture = { run<T>(action: () => Promise<T>): Promise<{ value: T; printed: string[] }> };

/**
 * Takes the place of flying-squid's own log plugin, which opens a prompt on the terminal, prints escape sequences also into
 * pipes, and takes SIGTERM away to exit without saving.
 */
export function createConsole(log: Log): { plugin: Plugin; capture: Capture } {
  const printed = new AsyncLocalStorage<string[]>();
  const toWhoAsks = (print: (text: string) => void) => (text: string) => {
    const lines = printed.getStore();
    if (lines) lines.push(plain(text));
    else print(text);
  };

  const plugin: Plugin = {
    server: (server) => {
      server.debug = () => {};
      server.log = () => {};
      server.info = toWhoAsks(() => {});
      server.warn = toWhoAsks(log.warn);
      server.err = toWhoAsks(log.error);
      server.on("error", (error: Error) => log.error(error.message));
      server.on("clientError", (client: { username?: string }, error: Error & { code?: string }) => {
        if (error.code === "ECONNRESET" || error.code === "EPIPE") return;
        log.warn(oneLine(`Connection of ${client.username ?? "a client"} failed: ${error.message}`));
      });
    },
    player: (player) => {
      let joined = false;
      player.on("connected", () => {
        joined = true;
        log.info(oneLine(`${player.username} joined the game`));
      });
      player.on("disconnected", () => {
        if (joined) log.info(oneLine(`${player.username} left the game`));
      });
      player.on("chat", ({ message }: { message: string }) => {
        log.info(oneLine(`<${player.username}> ${message}`));
      });
      player.on("command", ({ command }: { command: string }) => {
        log.info(oneLine(`${player.username} issued server command: /${command}`));
      });
    },
  };
  const capture: Capture = {
    run: async (action) => {
      const lines: string[] = [];
      const value = await printed.run(lines, action);
      return { value, printed: lines };
    },
  };
  return { plugin, capture };
}
