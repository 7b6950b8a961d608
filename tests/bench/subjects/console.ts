// lifecycle's consoles as they ship, on a cluster that has nothing but logs: followers, echo and RCON. Only the copy of
// the servers is made up.

import { connectKube } from "@svc/kube";
import { connectMesh } from "@svc/mesh";
import { openStore } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import { startConsole } from "../../../services/lifecycle/src/console/serve.ts";
import type { Tables } from "../../../services/lifecycle/src/database/schema.ts";
import type { ServerDeps } from "../../../services/lifecycle/src/server/deps.ts";
import { createServerStore } from "../../../services/lifecycle/src/server/store.ts";
import { aServer, defaults, emptyRunning } from "../../../services/lifecycle/src/testing/observed.ts";
import { need, serveParent } from "../harness/parent.ts";

const log = createLogger("lifecycle", "warn");
const mesh = await connectMesh({
  service: "lifecycle",
  url: need("SVC_NATS_URL"),
  user: "lifecycle",
  password: need("SVC_NATS_PASSWORD"),
  version: "bench",
  log,
});
const database = openStore<Tables>({ url: need("SVC_DATABASE_URL"), schema: "lifecycle", poolSize: 5, log });
const endpoint = { mode: "direct", address: `${need("BENCH_RCON_HOST")}:25565` } as const;
const kube = connectKube({ kubeconfigFile: need("BENCH_KUBECONFIG") });
const password = Buffer.from("bench").toString("base64");
const deps = {
  kube: {
    ...kube,
    find: async (kind: { plural: string }, target: never) =>
      kind.plural === "secrets" ? { data: { password } } : kube.find(kind as never, target),
  },
  mesh,
  namespace: "minecraft",
  settings: defaults,
  servers: { get: (name: string) => ({ ...aServer({}, { name }), status: { ...emptyRunning, endpoint } }) },
  store: createServerStore(database),
} as unknown as ServerDeps;
startConsole({ mesh, deps, database, registry: createRegistry("lifecycle", "bench"), log, replica: "bench" });
await mesh.announce();
serveParent({});
