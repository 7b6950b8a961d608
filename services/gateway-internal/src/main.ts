// The internal face (docs/reference/http.md#faces): the proxy, the login gate, build jobs and the emergency CLI call it.

import { createFace, limitsOf, openServiceTokens } from "@svc/http-gateway";
import { operations, processOperations } from "@svc/proto";
import { runService } from "@svc/service";
import { listenAddress, settings, tokenSource } from "./config.ts";

await runService({
  name: "gateway-internal",
  settings,
  start: async ({ settings: { gateway }, mesh, registry, tracing, log }) => {
    const face = createFace({
      face: "internal",
      operations,
      processOperations,
      mesh,
      tokens: openServiceTokens({ ...tokenSource(), log }),
      settings: limitsOf(gateway),
      registry,
      log,
      tracing,
    });
    const { port } = await face.listen(listenAddress(gateway.internal_listen));
    log.info({ port }, "listening on the internal face");
    return { stop: face.close };
  },
});
