// Which program runs an image: an entry of the image table, or for an image of the registry the entry of its base, with the
// files of the image for its volume (docs/reference/images.md#bases).

import type { Reference, Registry } from "@svc/registry";
import { ImageError } from "./image-error.ts";
import {
  type FoundManifest,
  fetchConfig,
  fetchFiles,
  findManifest,
  type ImageLimits,
  type Source,
} from "./pull.ts";
import { baseNameOf, derive } from "./pulled.ts";
import type { ImageStore, StoredImage } from "./store.ts";
import type { FindInTable, TableImage } from "./table.ts";

export type Image = Pick<TableImage, "command" | "env" | "workingDir"> & {
  /** What Kubernetes reports as `imageID`: for an image of the registry with its digest. */
  id: string;
  /** Files of the image for the volume that is mounted at `path`. */
  data?: { path: string; fill(volume: string): Promise<void> };
};

export type Images = {
  /** Pulls the image when it must. Throws an ImageError when there is no way to run it now. */
  find(reference: string, signal: AbortSignal): Promise<Image>;
  /** Ends the pulls that run. */
  close(): Promise<void>;
};

type ImagesDeps = {
  findInTable: FindInTable;
  /** Host and port of the registry whose images are pulled; all others must be in the table. */
  registry?: string | undefined;
  store: ImageStore;
  limits?: Partial<ImageLimits>;
};

const defaultLimits: ImageLimits = {
  packedBytes: 10 * 2 ** 30,
  layers: 256,
  plainBytes: 16 * 2 ** 30,
  entries: 200_000,
};
const registryTimeoutMs = 20_000;

export function createImages(deps: ImagesDeps): Images {
  const { findInTable, registry: host, limits } = deps;
  const closing = new AbortController();
  const pulls = new Map<string, Promise<StoredImage>>();
  let opened: Registry | undefined;

  const sourceOf = async (path: string, signal: AbortSignal): Promise<Source> => {
    const { openRegistry } = await import("@svc/registry");
    opened ??= openRegistry({
      host: host ?? "",
      plainHttp: isLoopback(host ?? ""),
      timeoutMs: registryTimeoutMs,
    });
    return { registry: opened, path, limits: { ...defaultLimits, ...limits }, signal };
  };
  /** One pull for all pods that ask for the image; it goes on when one of them is deleted. */
  const pullOnce = (found: FoundManifest, path: string): Promise<StoredImage> => {
    const running = pulls.get(found.digest) ?? pull(deps, found, sourceOf(path, closing.signal));
    pulls.set(found.digest, running);
    const forget = () => void pulls.delete(found.digest);
    running.then(forget, forget);
    return running;
  };
  const findPulled = async (text: string, signal: AbortSignal): Promise<Image | undefined> => {
    const reference = await parse(text, host);
    if (reference === undefined) return undefined;
    const { path, name } = reference;
    const own = await sourceOf(path, AbortSignal.any([signal, closing.signal]));
    const isKept = reference.digest !== undefined && (await deps.store.find(reference.digest)) !== undefined;
    const found = isKept ? undefined : await findManifest(own, reference.digest ?? reference.tag ?? "latest");
    const digest = found?.digest ?? reference.digest ?? "";
    const stored =
      (await deps.store.find(digest)) ??
      (found === undefined ? undefined : await untilAborted(pullOnce(found, path), signal));
    if (stored === undefined) throw new ImageError(`"${text}" was removed while it was looked up`);
    const derived = derive(text, stored.config, await findInTable(baseNameOf(stored.config) ?? ""));
    const fill = async (volume: string) => {
      const { fillVolume } = await import("@svc/world");
      await deps.store.use(digest, (files) => fillVolume(files, volume));
    };
    return { ...derived, id: `${name}@${digest}`, data: { path: derived.base.data, fill } };
  };
  return {
    find: async (text, signal) => {
      const entry = await findInTable(text);
      if (entry !== undefined) return { ...entry, id: text };
      const pulled = await findPulled(text, signal).catch((error: unknown) => {
        throw explain(text, error);
      });
      if (pulled !== undefined) return pulled;
      throw new ImageError(`image "${text}" is not in the image table; add it there and the pod starts`);
    },
    close: async () => {
      closing.abort(new Error("the cluster stops"));
      await Promise.allSettled(pulls.values());
    },
  };
}

async function pull({ store, findInTable }: ImagesDeps, found: FoundManifest, opening: Promise<Source>) {
  const source = await opening;
  return store.add(found.digest, async (staging) => {
    const config = await fetchConfig(source, found);
    // Before its layers are fetched: an image that can't run here may be large.
    const { base } = derive(
      `${source.registry.host}/${source.path}`,
      config,
      await findInTable(baseNameOf(config) ?? ""),
    );
    const bytes = await fetchFiles(source, { found, config, below: base.data, staging });
    return { config, bytes };
  });
}

/** The reference when it is one of the registry; undefined for any other image. */
async function parse(text: string, host: string | undefined): Promise<Reference | undefined> {
  if (host === undefined || !text.startsWith(`${host}/`)) return undefined;
  const { parseReference } = await import("@svc/registry");
  const reference = parseReference(text);
  if (reference?.host === host) return reference;
  throw new ImageError(`"${text}" is not a reference to an image`, { isInvalidName: true });
}

function explain(text: string, error: unknown): unknown {
  if (error instanceof ImageError || !(error instanceof Error)) return error;
  if (error.name !== "RegistryError" && error.name !== "WorldFault") return error;
  return new ImageError(`failed to pull image "${text}": ${error.message}`, { cause: error });
}

function untilAborted<Value>(task: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([task, promise]).finally(() => signal.removeEventListener("abort", abort));
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(host);
}
