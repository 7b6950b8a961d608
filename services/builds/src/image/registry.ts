// Asks the platform's registry which digest a tag names right now (docs/reference/images.md#whitelist).

import type { RegistrySettings } from "../config.ts";
import type { Reference } from "./reference.ts";

type Resolution = { kind: "found"; digest: string } | { kind: "missing" } | { kind: "failed"; cause: Error };

export type Registry = {
  /** Host and port as image references write it. */
  host: string;
  resolve: (reference: Reference, signal: AbortSignal) => Promise<Resolution>;
};

// Lists first: the digest of an image for several platforms must be that of its list.
const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");
const digestShape = /^sha256:[0-9a-f]{64}$/;

/** Undefined when the installation has no registry. Redirects are not followed: only the configured host is asked. */
export function createRegistry(settings: RegistrySettings): Registry | undefined {
  const { url: host, timeout } = settings;
  if (host === "") return undefined;
  const scheme = (settings.plain_http ?? isLoopback(host)) ? "http" : "https";
  return {
    host,
    resolve: async ({ path, tag, digest }, signal) => {
      const wanted = digest ?? tag ?? "latest";
      const manifest = `${scheme}://${host}/v2/${path}/manifests/${wanted}`;
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
        return await ask(manifest, digest, limit);
      } catch (cause) {
        return { kind: "failed", cause: cause as Error };
      }
    },
  };
}

async function ask(manifest: string, given: string | undefined, signal: AbortSignal): Promise<Resolution> {
  const options = { method: "HEAD", headers: { accept: manifestTypes }, signal } as const;
  const { request } = await import("undici");
  const { statusCode, headers, body } = await request(manifest, options);
  await body.dump();
  if (statusCode === 404) return { kind: "missing" };
  if (statusCode !== 200) return failed(`the registry answered ${statusCode} for ${manifest}`);
  const digest = headers["docker-content-digest"];
  if (typeof digest !== "string" || !digestShape.test(digest)) {
    return failed(`the registry named no digest for ${manifest}`);
  }
  if (given !== undefined && digest !== given) return failed(`the registry has ${digest} for ${manifest}`);
  return { kind: "found", digest };
}

function failed(message: string): Resolution {
  return { kind: "failed", cause: new Error(message) };
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(host);
}
