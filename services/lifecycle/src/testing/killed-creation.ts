// A process that makes a server of a template for an account and is killed on its way:
// `node killed-creation.ts <url> <kubeconfig> <template> <name> <account> <step> <before|after|answered>`. A step is a statement of
// SQL or the creation of the object; step 0 kills nobody, `answered` after the commit, when only the answer is left. It prints
// the answer, or the fault, and how many steps there were.

import { connectKube } from "@svc/kube";
import type { Context, Mesh } from "@svc/mesh";
import { type AnyContract, Fault, type FaultOptions, images, isFault, serverTemplates } from "@svc/proto";
import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import type { KyselyPlugin } from "kysely";
import type { Tables } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { createServerStore } from "../server/store.ts";
import { serveTemplates } from "../template/serve.ts";
import { noLimits } from "./fake-services.ts";

const [url = "", kubeconfig = "", template = "", name = "", account = "", step, when] = process.argv.slice(2);
let steps = 0;
const dieAt = (moment: string) => {
  if (steps === Number(step) && moment === when) process.kill(process.pid, "SIGKILL");
};
const counting: KyselyPlugin = {
  transformQuery: ({ node }) => {
    steps += 1;
    dieAt("before");
    return node;
  },
  transformResult: async ({ result }) => {
    dieAt("after");
    return result;
  },
};

const log = createLogger("lifecycle", "silent");
const opened = openStore<Tables>({ url, schema: "lifecycle", poolSize: 2, log });
const store = { ...opened, db: opened.db.withPlugin(counting) };
const kube = connectKube({ kubeconfigFile: kubeconfig });
const create: typeof kube.create = async (...about) => {
  steps += 1;
  dieAt("before");
  const made = await kube.create(...about);
  dieAt("after");
  return made;
};
const settings = {
  ...{ default_image: "svc.local/demo-server:1.21.4", default_memory: "2Gi", default_storage: "8Gi" },
  ...{ idle_default: 600_000, heap_reserve_min: 512 * 2 ** 20, servers_made_per_account: 100 },
};
// What builds and identity would say, and a copy of the cluster that knows nothing.
const deps = {
  ...{ settings, namespace: "minecraft", kube: { ...kube, create }, store: createServerStore(store) },
  servers: { list: () => [], get: () => undefined, remember: () => {} },
  nodes: { list: () => [] },
  mesh: {
    call: async (contract: AnyContract, input: { image_ref?: string }) =>
      contract === images.admitImage ? { image_ref: input.image_ref } : { limits: noLimits, active: true },
  },
} as unknown as ServerDeps;

type Making = (context: Context<AnyContract>, input: unknown) => Promise<unknown>;
const handlers = new Map<unknown, Making>();
const mesh = { serve: (contract: unknown, handler: Making) => void handlers.set(contract, handler) };
serveTemplates(mesh as unknown as Mesh, deps, store);
const context = {
  requestId: "killed-creation",
  principal: { kind: "account", user_id: account, username: account, role: "user", staff: false },
  client: { address: "192.0.2.7", userAgent: "browser" },
  fault: (fault: Fault["fault"], options?: FaultOptions) => new Fault(fault, options),
} as unknown as Context<AnyContract>;

const making = async () => handlers.get(serverTemplates.createOwn)?.(context, { template, name });
const answer = await making().catch((error: unknown) => {
  if (isFault(error)) return { fault: error.fault };
  throw error;
});
if (when === "answered") process.kill(process.pid, "SIGKILL");
process.stdout.write(JSON.stringify({ answer, steps }));
kube.close();
await opened.close();
