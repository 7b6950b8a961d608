// The bare relay: bytes from one socket to the other, both ways, with back-pressure.

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { serveParent } from "../harness/parent.ts";

serveParent({
  /** Passes connections on to the port on this machine; answers its own. */
  open: async (backendPort: number) => {
    const server = createServer({ noDelay: true }, (near) => {
      const far = connect({ port: backendPort, host: "127.0.0.1", noDelay: true });
      near.pipe(far).pipe(near);
      near.on("error", () => far.destroy());
      far.on("error", () => near.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
});
