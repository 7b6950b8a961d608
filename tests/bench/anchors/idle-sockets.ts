// Connections that are only held: read, and told that we are alive every ten seconds.

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { serveParent } from "../harness/parent.ts";

const aliveMs = 10_000;

serveParent({
  open: async () => {
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => {});
      socket.resume();
    });
    const alive = Buffer.alloc(10);
    setInterval(() => {
      for (const socket of sockets) socket.write(alive);
    }, aliveMs);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
});
