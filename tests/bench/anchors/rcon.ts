// A bare RCON server that answers at once, one that never answers, and a bare client: a new connection, the password
// and one command each time.

import { randomInt } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { serveParent } from "../harness/parent.ts";
import { onPackets, packet } from "../harness/rcon-packets.ts";

const port = 25_575;
const auth = 3;
const command = 2;
const reply = "There are 0 of a max of 20 players online: ";

function answering(socket: Socket): void {
  socket.setNoDelay();
  onPackets(socket, (id, type) => socket.write(type === auth ? packet(id, 2, "") : packet(id, 0, reply)));
}

function silent(socket: Socket): void {
  socket.on("error", () => socket.destroy());
  socket.resume();
}

const open: Server[] = [];

/** RCON has one port, so each listener has an address of its own in 127.0.0.0/8. */
async function listen(handle: (socket: Socket) => void): Promise<string> {
  const address = `127.${randomInt(112, 126)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const server = createServer(handle);
  open.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: address, port, backlog: 4_096 }, resolve);
  });
  return address;
}

function ask(host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => socket.write(packet(1, auth, "bench")));
    socket.once("error", reject);
    onPackets(socket, (_id, type) => {
      if (type === command) return socket.write(packet(2, command, "list"));
      socket.destroy();
      resolve();
    });
  });
}

async function round({ address, count, sockets }: { address: string; count: number; sockets: number }) {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let next = 0;
  const worker = async () => {
    while (next++ < count) await ask(address);
  };
  await Promise.all(Array.from({ length: sockets }, worker));
  const { user, system } = process.cpuUsage(before);
  return { roundMs: performance.now() - startedAt, cpuUs: (user + system) / count };
}

serveParent({
  listen: async () => ({ address: await listen(answering), slowAddress: await listen(silent) }),
  round,
});
