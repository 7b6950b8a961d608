import { type Pod, resources } from "@svc/kube";
import type { Handler } from "@svc/mesh";
import { label, servers as resource, type Server } from "../cluster/resource.ts";
import type { contracts, ServerDeps } from "./deps.ts";

/** Well below the largest message, however long the references are. */
const pageEntries = 500;

/** From the cluster itself: what a copy of it does not have yet would be deleted from the registry. */
export const listImages =
  (deps: Pick<ServerDeps, "kube" | "namespace">): Handler<typeof contracts.listImages> =>
  async (_context, { cursor = "" }) => {
    const { kube, namespace } = deps;
    const [servers, pods] = await Promise.all([
      kube.list(resource, { namespace }),
      kube.list(resources.pods, { namespace }),
    ]);
    const images = imagesByUser(servers.items, pods.items);
    const names = [...images.keys()].filter((name) => name > cursor).sort();
    const items = names
      .slice(0, pageEntries)
      .map((server) => ({ server, images: [...(images.get(server) ?? [])].sort() }));
    const next = names.length > pageEntries ? items.at(-1)?.server : undefined;
    return { items, ...(next !== undefined && { next }) };
  };

/** By server, and by pod for pods of no server. Pods that have ended count too: they are restarted from their image. */
function imagesByUser(servers: readonly Server[], pods: readonly Pod[]): Map<string, Set<string>> {
  const images = new Map<string, Set<string>>();
  const add = (name: string, image: string | undefined) => {
    const known = images.get(name) ?? new Set();
    images.set(name, image === undefined || image === "" ? known : known.add(image));
  };
  for (const { metadata, spec } of servers) add(metadata.name, spec.image);
  for (const { metadata, spec } of pods) {
    const name = metadata.labels?.[label.server] ?? metadata.name;
    for (const { image } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) add(name, image);
  }
  return images;
}
