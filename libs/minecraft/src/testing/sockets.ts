// Pairs of sockets on this machine.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Two ends of one connection; the near one is paused. */
export async function socketPair(): Promise<[near: Socket, far: Socket]> {
  const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object");
  const far = connect({ port: address.port, host: "127.0.0.1", noDelay: true });
  const [near] = (await once(server, "connection")) as [Socket];
  server.close();
  return [near, far];
}
