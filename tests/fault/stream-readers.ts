// Pages with the panel open, many of them in a process of their own: event streams on bare sockets, each of which comes back
// where it was whenever it ends, as EventSource does. They keep numbers of marks, not lines.

import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { serveParent } from "../bench/harness/parent.ts";
import { requestText } from "../bench/load/http.ts";

export type StreamsPlan = {
  path: string;
  /** Ports that lead to the stream; each new try takes the next one. */
  ports: readonly number[];
  /** One stream for each. */
  headers: readonly Record<string, string>[];
};

export type StreamsSeen = {
  open: number;
  /** Fewest and most times that a stream began. */
  connections: [fewest: number, most: number];
  /** Answers other than 200, by their first line. */
  refused: Record<string, number>;
  /** For each asked mark that some stream lacks: how many lack it. */
  missing: Record<string, number>;
};

type Reader = { seen: Set<number>; connections: number; isOpen: boolean };

const host = "127.0.0.1";
const againMs = 200;
const readers: Reader[] = [];
const refused: Record<string, number> = {};
let isOver = false;

function readOnce(reader: Reader, state: { lastId: string }, { port, path, headers }: Asked): Promise<void> {
  return new Promise((settle) => {
    const resume = state.lastId === "" ? {} : { "last-event-id": state.lastId };
    const socket = connect({ host, port, noDelay: true });
    socket.write(
      requestText({ host, port, method: "GET", path, headers: { ...headers, ...resume } }),
      "latin1",
    );
    let held = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      if (!reader.isOpen) begin(reader, chunk);
      const lines = (held + chunk).split("\n");
      held = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("id: ")) state.lastId = line.slice("id: ".length).trimEnd();
        // Not the line that says who ran which command.
        for (const [, mark] of line.matchAll(/(?<!say )mark-(\d+)/g)) reader.seen.add(Number(mark));
      }
    });
    socket
      .on("error", () => undefined)
      .on("close", () => {
        reader.isOpen = false;
        settle();
      });
  });
}

type Asked = { port: number; path: string; headers: Record<string, string> };

function begin(reader: Reader, chunk: string): void {
  reader.isOpen = true;
  const [first = ""] = chunk.split("\r\n");
  if (first.startsWith("HTTP/1.1 200")) reader.connections += 1;
  else refused[first] = (refused[first] ?? 0) + 1;
}

async function follow(
  { ports, path }: StreamsPlan,
  headers: Record<string, string>,
  at: number,
): Promise<void> {
  const reader: Reader = { seen: new Set(), connections: 0, isOpen: false };
  const state = { lastId: "" };
  readers.push(reader);
  for (let turn = at; !isOver; turn += 1) {
    await readOnce(reader, state, { port: ports[turn % ports.length] ?? 0, path, headers });
    await pause(againMs);
  }
}

serveParent({
  open: (plan: StreamsPlan) => {
    for (const [at, headers] of plan.headers.entries()) void follow(plan, headers, at);
  },
  look: (marks: readonly number[]): StreamsSeen => {
    const counts = readers.map(({ connections }) => connections);
    const missing: Record<string, number> = {};
    for (const mark of marks) {
      const lack = readers.filter(({ seen }) => !seen.has(mark)).length;
      if (lack > 0) missing[mark] = lack;
    }
    return {
      open: readers.filter(({ isOpen }) => isOpen).length,
      connections: [Math.min(...counts), Math.max(...counts)],
      refused,
      missing,
    };
  },
  end: () => {
    isOver = true;
  },
});
