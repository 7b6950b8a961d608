// A process that makes a server of a template for an account and is killed on its way, at a statement or when it creates the object:
// `node killed-creation.ts <url> <kubeconfig> <template> <name> <account> <step> <when>`.

import { connectKube } from "@svc/kube";
import type { Context, Mesh } from "@svc/mesh";
import { type AnyContract, images, serverTemplates } from "@svc/proto";
import type { ServerDeps } from "../server/deps.ts";
import { createServerStore } from "../server/store.ts";
import { serveTemplates } from "../template/serve.ts";
import { noLimits } from "./fake-services.ts";
import { contextOf, openKilledStore } from "./killed-steps.ts";

const [url = "", kubeconfig = "", template = "", name = "", account = ""] = process.argv.slice(2);
const { store, counted, tell } = openKilledStore(url);
const kube = connectKube({ kubeconfigFile: kubeconfig });
const settings = {
  ...{ default_image: "svc.local/demo-server:1.21.4", default_memory: "2Gi", default_storage: "8Gi" },
  ...{ idle_default: 600_000, heap_reserve_min: 512 * 2 ** 20, servers_made_per_account: 100 },
};
// What builds and identity would say, and a copy of the cluster that knows nothing.
const deps = {
  ...{
    settings,
    namespace: "minecraft",
    kube: { ...kube, create: counted(kube.create) },
    store: createServerStore(store),
  },
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
const context = contextOf<AnyContract>("killed-creation", account);
await tell(async () => handlers.get(serverTemplates.createOwn)?.(context, { template, name }));
kube.close();
