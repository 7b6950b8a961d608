import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the range from which Linux serves outgoing connections and port 0, and above every port that has a meaning
// here: between the choice and its use nothing takes a port of this range by chance.
const lowest = 26_000;
const highest = 32_767;
const tries = 100;

/** A loopback TCP port that nothing listens on right now; another program may take it before you do. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const port = randomInt(lowest, highest + 1);
    if ((await tryPort(port)) === undefined) return port;
  }
  return anyPort();
}

function anyPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Whether the port can be bound on loopback; the error code of the attempt when it can't. */
export function tryPort(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: "127.0.0.1", port }, () => server.close(() => resolve(undefined)));
  });
}
