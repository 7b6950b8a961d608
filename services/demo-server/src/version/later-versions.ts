// flying-squid 1.12.0 ends at 1.21.4 although its libraries know later versions. Here it is let past that, and what it writes
// is put as later clients read it. Remove what a newer flying-squid does itself.

import { createRequire } from "node:module";
import type { GameServer, ProtocolClient } from "flying-squid";
import { fieldsFor } from "./packets.ts";

const newest = "26.1";
/** Protocols since which an attack is a packet of its own. */
const attackSince = 775;

type Registry = { readonly version: { readonly majorVersion: string } };
type Chunks = (registry: Registry) => unknown;

/** Lifts the limit, and lets worlds of versions named by years be kept as those of 1.21 are. */
export function allowLaterVersions(require: NodeJS.Require): void {
  const limit = require("flying-squid/src/lib/version.js") as { latestSupportedVersion: string };
  limit.latestSupportedVersion = newest;
  const requireOfGame = createRequire(require.resolve("flying-squid/package.json"));
  const path = requireOfGame.resolve("prismarine-provider-anvil/src/chunk.js");
  const requireOfWorld = createRequire(path);
  const original = requireOfGame(path) as Chunks;
  const module = requireOfGame.cache[path];
  if (!module) throw new Error(`${path} is not loaded`);
  module.exports = (registry: Registry) => {
    if (registry.version.majorVersion.startsWith("1.")) return original(registry);
    const chunksOf = requireOfWorld("prismarine-chunk") as Chunks;
    const read = requireOfWorld("./1.18/chunk.js") as (chunk: unknown, registry: Registry) => unknown;
    return read(chunksOf(registry), registry);
  };
}

/** Whatever is written to one client or to several goes through the changes of this server's version. */
export function writeForVersion({ _server: inner }: GameServer): void {
  const { version: protocol } = inner.mcversion;
  const writeToClients = inner.writeToClients.bind(inner);
  inner.writeToClients = (clients, packet, fields) =>
    writeToClients(clients, packet, fieldsFor(protocol, packet, fields));
  inner.on("connection", (client: ProtocolClient) => {
    const write = client.write.bind(client);
    client.write = (packet, fields) =>
      write(packet, client.state === "play" ? fieldsFor(protocol, packet, fields) : fields);
    if (protocol < attackSince) return;
    client.on("attack", ({ entityId }: { entityId: number }) =>
      client.emit("use_entity", { target: entityId, mouse: 1 }),
    );
  });
}
