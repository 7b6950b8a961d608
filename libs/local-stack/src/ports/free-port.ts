import { createServer } from "node:net";

/** A loopback TCP port that nothing listens on right now; another program may take it before you do. */
export function findFreePort(): Promise<number> {
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
