// The external face (docs/reference/http.md#faces): people and the panel call it with a session cookie.

import { createFace, createSessions, limitsOf } from "@svc/http-gateway";
import { operations, processOperations } from "@svc/proto";
import { runService } from "@svc/service";
import { adminHostname, clientIpHeader, listenAddress, panelHostname, settings } from "./config.ts";
import { loadPanel } from "./panel/files.ts";
import { createPanelSite } from "./panel/site.ts";

await runService({
  name: "gateway-external",
  settings,
  start: async ({ settings: given, mesh, registry, tracing, log }) => {
    const limits = limitsOf(given.gateway);
    const hosts = {
      panel: panelHostname(given),
      admin: adminHostname(given),
      rootDomain: given.server.root_domain,
    };
    const site =
      given.panel.dir === "" ? undefined : createPanelSite(loadPanel(given.panel.dir, hosts), hosts);
    const sessions = createSessions(mesh, { cacheMs: limits.sessionCacheMs, size: limits.sessionCacheSize });
    const face = createFace({
      face: "external",
      operations,
      processOperations,
      mesh,
      sessions,
      ...(site && { site }),
      settings: { ...limits, adminHostname: hosts.admin, clientIpHeader: clientIpHeader(given) },
      registry,
      log,
      tracing,
    });
    const { port } = await face.listen(listenAddress(given));
    log.info({ port }, "listening on the external face");
    return {
      stop: async () => {
        await face.close();
        sessions.close();
      },
    };
  },
});
