// Stands in for lifecycle, without database and cluster: answers status reads out of memory and writes the
// `servers` view. It uses libs/mesh as every owner does, so the path before it is the one that ships.

import { connectMesh } from "@svc/mesh";
import { servers, worlds } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { makeOwnership, makeServer, serverName } from "../anchors/servers.ts";
import { dueWorld } from "../harness/due-worlds.ts";
import { need, serveParent } from "../harness/parent.ts";

const mesh = await connectMesh({
  service: "lifecycle",
  url: need("SVC_NATS_URL"),
  user: "lifecycle",
  password: need("SVC_NATS_PASSWORD"),
  version: "bench",
  log: createLogger("lifecycle", "warn"),
});
const one = makeServer(0);
mesh.serve(servers.readStatus, () => one);
mesh.serve(servers.viewStatus, () => one);
// For the daily run: as many worlds as `due` says, in pages as lifecycle makes them.
const due = { count: 0, page: 500 };
const indexOf = (name: string) => Number(name.slice(name.lastIndexOf("-") + 1));
mesh.serve(worlds.listWorlds, (_context, { cursor }) => {
  const first = cursor === undefined ? 0 : indexOf(cursor) + 1;
  const end = Math.min(first + due.page, due.count);
  const items = Array.from({ length: end - first }, (_, index) => dueWorld(first + index));
  const last = items.at(-1)?.name;
  return { items, ...(end < due.count && last !== undefined && { next: last }) };
});
mesh.serve(worlds.describeServer, (_context, { name }) => dueWorld(indexOf(name)));
mesh.serve(worlds.holdWorld, () => ({ stopped: false }));
// The view has it a moment later, as when another replica writes it.
let writing: Promise<void> = Promise.resolve();
let players = 0;
mesh.serve(servers.stop, (_context, { name }) => {
  players = (players % 19) + 1;
  const entry = { ...makeServer(indexOf(name)), playersOnline: players };
  writing = new Promise((wake) => setImmediate(wake)).then(() => view.put(name, entry));
  return { name, desiredState: "Stopped" as const };
});
await mesh.announce();
const view = await mesh.writeView(servers.servers, { isWritten: () => writing.then(() => true) });
const owners = await mesh.writeView(servers.serverOwners);

serveParent({
  /** Makes so many worlds due. */
  due: (count: number) => {
    due.count = count;
  },
  /** Makes the views hold this many servers; every second one is the caller's. */
  fill: async (count: number) => {
    const indexes = Array.from({ length: count }, (_, index) => index);
    await owners.replace(new Map(indexes.map((index) => [serverName(index), makeOwnership(index)])));
    await view.replace(new Map(indexes.map((index) => [serverName(index), makeServer(index)])));
  },
  /** Changes one server of the view. */
  change: ({ index, players }: { index: number; players: number }) =>
    view.put(serverName(index), { ...makeServer(index), playersOnline: players }),
});
