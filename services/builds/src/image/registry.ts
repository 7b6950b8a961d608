// Asks the platform's registry which digest a tag names right now (docs/reference/images.md#whitelist).

import { openRegistry, type Reference } from "@svc/registry";
import type { RegistrySettings } from "../config.ts";
import { readVersionLabel } from "./version-label.ts";

const maxLabels = 1_000;

type Resolution = { kind: "found"; digest: string } | { kind: "missing" } | { kind: "failed"; cause: Error };

export type PlatformRegistry = {
  /** Host and port as image references write it. */
  host: string;
  resolve: (reference: Reference, signal: AbortSignal) => Promise<Resolution>;
  /** The version of the game that an image says it runs; undefined where it says none. Throws `RegistryError`. */
  readVersion: (named: { path: string; tag: string }, signal: AbortSignal) => Promise<string | undefined>;
  /** When what a tag names was pushed; undefined where nothing is, or nobody knows. Throws `RegistryError`. */
  pushedAt: (named: { path: string; tag: string }, signal: AbortSignal) => Promise<Date | undefined>;
};

/** Undefined when the installation has no registry. */
export function createRegistry(settings: RegistrySettings): PlatformRegistry | undefined {
  const { url: host, timeout: timeoutMs } = settings;
  if (host === "") return undefined;
  const plainHttp = isPlainHttp(settings);
  const registry = openRegistry({ host, plainHttp, timeoutMs });
  // What a digest names never changes.
  const labels = new Map<string, string | undefined>();
  return {
    host,
    pushedAt: async ({ path, tag }, signal) => (await registry.getManifest(path, tag, signal))?.pushedAt,
    readVersion: async ({ path, tag }, signal) => {
      const digest = (await registry.headManifest(path, tag, signal))?.digest;
      if (digest === undefined || labels.has(digest)) return labels.get(digest ?? "");
      const label = await readVersionLabel(registry, { path, digest }, signal);
      if (labels.size >= maxLabels) labels.clear();
      labels.set(digest, label);
      return label;
    },
    resolve: async ({ path, tag, digest }, signal) => {
      try {
        const found = await registry.headManifest(path, digest ?? tag ?? "latest", signal);
        return found ? { kind: "found", digest: found.digest } : { kind: "missing" };
      } catch (cause) {
        return { kind: "failed", cause: cause as Error };
      }
    },
  };
}

/** Whether the platform's registry speaks http without TLS. */
export function isPlainHttp({ plain_http, url }: Omit<RegistrySettings, "timeout">): boolean {
  return plain_http ?? isLoopback(url);
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(host);
}
