import type { RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createNetServer, type Socket } from "node:net";
import type { ServerIdentity } from "./certificate.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { createServer: createHttpServer } = process.getBuiltinModule("node:http");

/** One port for HTTP and HTTPS. */
type TlsListener = {
  listen(port: number, host: string): Promise<AddressInfo>;
  close(): Promise<void>;
};

const tlsHandshake = 0x16;
const firstByteMs = 30_000;

/**
 * Serves plain HTTP and TLS on the same port, told apart by the first byte of a connection. kubectl sends its
 * token over TLS only; our own services skip the handshake.
 */
export function createTlsListener(identity: ServerIdentity, onRequest: RequestListener): TlsListener {
  const plain = createHttpServer({ keepAliveTimeout: 60_000 }, onRequest);
  const secure = createHttpsServer(
    { ...identity, keepAliveTimeout: 60_000, ALPNProtocols: ["http/1.1"] },
    onRequest,
  );
  const sockets = new Set<Socket>();
  const listener = createNetServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setTimeout(firstByteMs, () => socket.destroy());
    socket.once("readable", () => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) return;
      socket.setTimeout(0);
      socket.removeAllListeners("timeout");
      socket.unshift(first);
      (first[0] === tlsHandshake ? secure : plain).emit("connection", socket);
    });
  });
  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        listener.once("error", reject);
        listener.listen(port, host, () => {
          listener.off("error", reject);
          resolve(listener.address() as AddressInfo);
        });
      }),
    close: async () => {
      const closed = listener.listening ? new Promise((resolve) => listener.close(resolve)) : undefined;
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
