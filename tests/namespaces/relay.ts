// Joins two networks through a process that reaches both, or through the path of a socket that both see.

import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";

export type Place = { host: string; port: number };

/** Joins every connection to `listen` with a new one to `target`; each is a place or the path of a socket. */
export async function relay(listen: Place | string, target: Place | string): Promise<Server> {
  const server = createServer({ noDelay: true }, (client) => {
    const onward = typeof target === "string" ? connect(target) : connect({ ...target, noDelay: true });
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  if (typeof listen === "string") server.listen(listen);
  else server.listen(listen);
  await once(server, "listening");
  return server;
}
