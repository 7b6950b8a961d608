// People with the panel open, for tests/scale: event streams on bare sockets, each with the session of its own account.

import { connect, type Socket } from "node:net";
import { serveParent } from "../../bench/harness/parent.ts";
import { requestText } from "../../bench/load/http.ts";

export type Viewer = { path: string; headers: Record<string, string> };
export type ViewersPlan = { port: number; viewers: readonly Viewer[] };
export type ViewersSeen = {
  open: number;
  messages: number;
  bytes: number;
  resets: number;
  pauses: number;
  closed: number;
  /** What the first viewer was told, and when (Unix milliseconds). */
  arrivals: [server: string, atMs: number][];
};

const atOnce = 50;
const sockets = new Set<Socket>();
const nothing = { messages: 0, bytes: 0, resets: 0, pauses: 0, closed: 0 };
let seen: Omit<ViewersSeen, "open" | "arrivals"> = { ...nothing };
let arrivals: ViewersSeen["arrivals"] = [];

function count(text: string, isFirst: boolean): void {
  const atMs = Date.now();
  for (const [, event = "", data = ""] of text.matchAll(/(?:event: (\w+)\n)?data: ([^\n]*)\n/g)) {
    if (event === "reset") seen.resets += 1;
    else if (event === "paused") seen.pauses += 1;
    else seen.messages += 1;
    const server = isFirst && /"server":"([^"]+)"/.exec(data)?.[1];
    if (server) arrivals.push([server, atMs]);
  }
}

function open(port: number, viewer: Viewer, isFirst: boolean): Promise<void> {
  const request = { host: "127.0.0.1", port, method: "GET", ...viewer };
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  sockets.add(socket);
  let held = "";
  socket.on("close", () => {
    if (sockets.delete(socket)) seen.closed += 1;
  });
  return new Promise((settle, fail) => {
    socket.once("error", fail).write(requestText(request), "latin1");
    socket.on("data", (chunk) => {
      const text = held + chunk.toString("latin1");
      if (/^HTTP\/1\.1 (?!200)/.test(text)) return fail(new Error(`${viewer.path}: ${text.slice(0, 300)}`));
      settle();
      seen.bytes += chunk.length;
      const end = text.lastIndexOf("\n") + 1;
      count(text.slice(0, end), isFirst);
      held = text.slice(end);
    });
  });
}

serveParent({
  open: async ({ port, viewers }: ViewersPlan) => {
    for (let from = 0; from < viewers.length; from += atOnce)
      await Promise.all(
        viewers.slice(from, from + atOnce).map((viewer, at) => open(port, viewer, from + at === 0)),
      );
  },
  /** What arrived since this was asked last. */
  take: (): ViewersSeen => {
    const taken = { open: sockets.size, ...seen, arrivals };
    seen = { ...nothing };
    arrivals = [];
    return taken;
  },
});
