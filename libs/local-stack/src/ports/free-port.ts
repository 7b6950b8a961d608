import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the range from which Linux serves outgoing connections and port 0, and above every port that has a meaning
// here: between the choice and its use nothing takes a port of this range by chance.
const lowest = 26_000;
const highest = 32_767;
const tries = 100;
/** Longer than it takes until the program that gets a port listens on it. */
const reservedMs = 60_000;

/**
 * A loopback TCP port that nothing listens on right now. On Linux nobody else who asks here gets it for a minute; another
 * program may still take it before you do.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const port = randomInt(lowest, highest + 1);
    if ((await tryPort(port)) === undefined && (await reserve(port))) return port;
  }
  return anyPort();
}

/** Stacks that start side by side choose dozens of ports each; a name of the kernel, which ends with us, keeps them apart. */
function reserve(port: number): Promise<boolean> {
  if (process.platform !== "linux") return Promise.resolve(true);
  const holder = createServer().unref();
  return new Promise((resolve) => {
    holder.once("error", () => resolve(false));
    holder.listen(`\0svc-port-${port}`, () => {
      setTimeout(() => holder.close(), reservedMs).unref();
      resolve(true);
    });
  });
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
