// The proxy's relay without the proxy: players log in and are bridged to one server, as services/proxy does it.

import { createBridge, listen } from "@svc/minecraft";
import { serveParent } from "../harness/parent.ts";

serveParent({
  /** Bridges players to the server on this machine; answers its own port. */
  open: async (backendPort: number) => {
    const backend = { name: "bench", host: "127.0.0.1", port: backendPort };
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
  },
});
