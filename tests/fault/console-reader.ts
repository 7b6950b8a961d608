// A page that follows a console, and comes back whenever its stream ends, as EventSource does.

import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export type ConsoleReader = {
  /** The data of every event so far. */
  lines: readonly string[];
  /** How often the stream began. */
  connections: () => number;
  leave: () => Promise<void>;
};

type Followed = {
  /** Ports that lead to the stream; each new try takes the next one. */
  ports: readonly number[];
  path: string;
  headers: Record<string, string>;
};

const againMs = 200;

/** Starts to follow; goes on until `leave`. */
export function followConsole({ ports, path, headers }: Followed): ConsoleReader {
  const left = new AbortController();
  const lines: string[] = [];
  let lastId = "";
  let connections = 0;
  const take = (event: string) => {
    for (const line of event.split("\n")) {
      if (line.startsWith("id: ")) lastId = line.slice("id: ".length);
      if (line.startsWith("data: ")) lines.push(line.slice("data: ".length));
    }
  };
  const readOnce = (port: number) =>
    new Promise<void>((settle) => {
      const resume = lastId === "" ? {} : { "last-event-id": lastId };
      const asked = request(
        {
          host: "127.0.0.1",
          port,
          path,
          agent: false,
          signal: left.signal,
          headers: { ...headers, ...resume },
        },
        (response) => {
          if (response.statusCode === 200) connections += 1;
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            const events = (text + chunk).split("\n\n");
            text = events.pop() ?? "";
            events.forEach(take);
          });
          response.on("error", () => undefined).on("close", settle);
        },
      );
      asked.on("error", () => settle()).end();
    });
  const loop = (async () => {
    for (let turn = 0; !left.signal.aborted; turn += 1) {
      await readOnce(ports[turn % ports.length] ?? 0);
      await pause(againMs, undefined, { signal: left.signal }).catch(() => undefined);
    }
  })();
  return {
    lines,
    connections: () => connections,
    leave: async () => {
      left.abort();
      await loop;
    },
  };
}
