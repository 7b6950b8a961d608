// A process in a network of its own: `listen` answers at every address of it, `connect` tries what it is asked over standard input.

import { once } from "node:events";
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { ports } from "./places.ts";

export type Attempt = { source: string; target: string; port: number };
export type Outcome = "open" | "closed";

const silentMs = 2_000;

async function listen(): Promise<void> {
  for (const port of ports) {
    const server = createServer((socket) => socket.on("error", () => undefined).end("here"));
    server.listen(port, "0.0.0.0");
    await once(server, "listening");
  }
  console.log("ready");
}

/** Open only if what listens there answers: a router may accept a connection that leads nowhere. */
function attempt({ source, target, port }: Attempt): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ host: target, port, localAddress: source, timeout: silentMs });
    const end = (outcome: Outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.on("data", () => end("open"));
    for (const event of ["error", "timeout", "close"]) socket.on(event, () => end("closed"));
  });
}

const atOnce = 32;

/** Answers a line of JSON for each line of attempts. */
async function answerAttempts(): Promise<void> {
  console.log("ready");
  for await (const line of createInterface(process.stdin)) {
    const attempts = JSON.parse(line) as Attempt[];
    const outcomes: Outcome[] = [];
    const queue = [...attempts.entries()];
    const work = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) outcomes[next[0]] = await attempt(next[1]);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    console.log(JSON.stringify(outcomes));
  }
}

await (process.argv[2] === "listen" ? listen() : answerAttempts());
