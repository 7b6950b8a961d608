// Players who enter a world of nothing and then only answer that they are alive.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type Connection, dial, findVersion, offlineUuid } from "@svc/minecraft";
import { serveParent } from "../harness/parent.ts";

const found = findVersion(769);
if (!found) throw new Error("there is no 1.21.4");
const version = found;
const alive = version.play.toClient.id("keep_alive");

type Crowd = { port: number; count: number; secret: string };

let players: Connection[] = [];
let sockets: Socket[] = [];
let names = 0;

async function enter({ port, secret }: Crowd): Promise<Connection> {
  const name = `Idle${++names}`;
  const profile = { uuid: offlineUuid(name), name, properties: [] };
  const connection = await dial(
    { name: "limbo", host: "127.0.0.1", port, secret },
    { version, profile, address: "127.0.0.1" },
  );
  const finish = version.configuration.toClient.id("finish_configuration");
  for (let packet = await connection.next(); packet.id !== finish; packet = await connection.next());
  connection.send(version.configuration.toServer.id("finish_configuration"));
  connection.listen(({ id, reader }) => {
    if (id === alive) connection.send(version.play.toServer.id("keep_alive"), Buffer.from(reader.rest()));
  });
  return connection;
}

async function connectBare(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket.resume();
}

serveParent({
  enter: async (crowd: Crowd) => {
    for (let index = 0; index < crowd.count; index++) players.push(await enter(crowd));
  },
  connect: async ({ port, count }: Omit<Crowd, "secret">) => {
    for (let index = 0; index < count; index++) sockets.push(await connectBare(port));
  },
  /** How many are still there. */
  present: () =>
    players.filter(({ isClosed }) => !isClosed).length + sockets.filter(({ closed }) => !closed).length,
  leave: () => {
    for (const socket of [...sockets, ...players]) socket.destroy();
    players = [];
    sockets = [];
  },
});
