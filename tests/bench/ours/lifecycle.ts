// Stands where lifecycle stands, without database and cluster: answers status reads out of memory and writes the
// `servers` view. It uses libs/mesh as every owner does, so the path before it is the one that ships.

import { connectMesh } from "@svc/mesh";
import { servers } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { makeServer, serverName } from "../anchors/servers.ts";
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
await mesh.announce();
const view = await mesh.writeView(servers.servers);

serveParent({
  /** Makes the view hold this many servers. */
  fill: (count: number) =>
    view.replace(
      new Map(Array.from({ length: count }, (_, index) => [serverName(index), makeServer(index)])),
    ),
  /** Changes one server of the view. */
  change: ({ index, players }: { index: number; players: number }) =>
    view.put(serverName(index), { ...makeServer(index), playersOnline: players }),
});
