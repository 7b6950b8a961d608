// The proxy's relay without the proxy: players log in and are bridged to one server, as services/proxy does it.

import { type Backend, createBridge, listen } from "@svc/minecraft";
import { serveParent } from "../harness/parent.ts";

/** Bridges players to the server on this machine; answers its own port. */
async function open(options: Pick<Backend, "port" | "work">): Promise<number> {
  const backend = { name: "bench", host: "127.0.0.1", ...options };
  const listener = await listen({
    ...{ host: "127.0.0.1", port: 0, trust: { kind: "offline" } },
    status: () => ({ description: "bench", playersOnline: 0, playersMax: 1 }),
    onPlayer: async (player) => {
      const bridge = createBridge(player, {
        onCommand: () => false,
        onServerMessage: () => false,
        onLost: () => bridge.kick("the server is gone"),
      });
      await bridge.connect(backend);
    },
  });
  return listener.port;
}

const endless = { burst: Number.MAX_SAFE_INTEGER, perSecond: Number.MAX_SAFE_INTEGER };

serveParent({
  /** For floods: what the relay can do, not what it allows. */
  open: (port: number) => open({ port, work: endless }),
  openAsUsual: (port: number) => open({ port }),
});
