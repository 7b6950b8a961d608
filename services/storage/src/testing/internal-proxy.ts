// The address of the internal face for Jobs, in front of all its replicas; a test may pause a stream at a byte.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A position in the stream of a request: so many bytes from the Job (`up`) or to it (`down`) have arrived. */
export type StreamPosition = { method: string; direction: "up" | "down"; bytes: number };

export type InternalProxy = {
  url: string;
  /** Resolves when a request is at that position, where it stays until `proceed`. */
  pauseAt: (place: StreamPosition) => Promise<void>;
  resume: () => void;
  /** The index of the replica that the newest request goes to. */
  lastTarget: () => number;
  close: () => Promise<void>;
};

type RequestState = { method: string; passed: { up: number; down: number } };

/** `portsOf` returns the current ports of the replicas; undefined for one that is gone. */
export async function openInternalProxy(portsOf: () => (number | undefined)[]): Promise<InternalProxy> {
  let awaited: (StreamPosition & { reached: () => void }) | undefined;
  let proceed = Promise.withResolvers<void>();
  let [turn, last] = [0, 0];
  const sockets = new Set<Socket>();

  async function pump(from: Socket, to: Socket, about: { way: RequestState; direction: "up" | "down" }) {
    const { way, direction } = about;
    for await (const chunk of from as AsyncIterable<Buffer>) {
      if (way.method === "") way.method = chunk.toString("latin1", 0, 10).split(" ")[0] ?? "";
      way.passed[direction] += chunk.length;
      const isThere = awaited?.method === way.method && awaited.direction === direction;
      if (awaited && isThere && way.passed[direction] >= awaited.bytes) {
        awaited.reached();
        awaited = undefined;
        await proceed.promise;
      }
      if (!to.write(chunk)) await Promise.race([once(to, "drain"), once(to, "close")]);
    }
    to.end();
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const ports = portsOf();
    const alive = ports.flatMap((port, index) => (port === undefined ? [] : [{ port, index }]));
    turn += 1;
    const chosen = alive[turn % alive.length];
    if (!chosen) return void near.destroy();
    const far = connect({ port: chosen.port, host: "127.0.0.1", allowHalfOpen: true });
    const way: RequestState = { method: "", passed: { up: 0, down: 0 } };
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.once("close", () => sockets.delete(one));
    }
    last = chosen.index;
    const end = () => {
      near.destroy();
      far.destroy();
    };
    pump(near, far, { way, direction: "up" }).catch(end);
    pump(far, near, { way, direction: "down" }).catch(end);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pauseAt: (place) => {
      proceed = Promise.withResolvers();
      return new Promise<void>((reached) => {
        awaited = { ...place, reached };
      });
    },
    resume: () => proceed.resolve(),
    lastTarget: () => last,
    close: async () => {
      proceed.resolve();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
