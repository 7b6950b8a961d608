import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject, PodLogs, ResourceRef } from "../../cluster-api.ts";
import { type ApiServer, createApiServer } from "../server.ts";

/** Resources that the tests use often. */
export const CONFIG_MAPS: ResourceRef = { group: "", version: "v1", resource: "configmaps" };
export const SERVICES: ResourceRef = { group: "", version: "v1", resource: "services" };
export const PODS: ResourceRef = { group: "", version: "v1", resource: "pods" };

/** A server on its own folder, for the duration of a test. */
export type Harness = AsyncDisposable & {
  folder: string;
  server: ApiServer;
  /** Closes the server and opens another one on the same file. */
  reopen(): Promise<ApiServer>;
  /** Sends a request as admin. */
  fetch(
    path: string,
    init?: { method?: string; body?: unknown; type?: string; signal?: AbortSignal },
  ): Promise<Response>;
};

const noLogs: PodLogs = { read: async function* () {} };

/** Starts a server on a free port. */
export async function startServer(podLogs: PodLogs = noLogs, clock?: () => Date): Promise<Harness> {
  const folder = await mkdtemp(join(tmpdir(), "svc-apiserver-"));
  const open = async () => {
    const tokens = [{ token: "admin-token", user: "admin", groups: ["system:masters"] }];
    const server = createApiServer({
      dataFile: join(folder, "db"),
      tokens,
      podLogs,
      ...(clock ? { clock } : {}),
    });
    await server.listen(0);
    return server;
  };
  const harness: Harness = {
    folder,
    server: await open(),
    reopen: async () => {
      await harness.server.close();
      harness.server = await open();
      return harness.server;
    },
    fetch: (path, { method = "GET", body, type = "application/json", signal } = {}) =>
      fetch(harness.server.url + path, {
        method,
        headers: {
          authorization: "Bearer admin-token",
          ...(body === undefined ? {} : { "content-type": type }),
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
      }),
    [Symbol.asyncDispose]: async () => {
      await harness.server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return harness;
}

/** A config map in `default`. */
export function configMap(name: string, data: Record<string, string> = {}): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data };
}

/** The events of a finished watch. */
export async function readEvents(
  response: Response,
): Promise<{ type: string; object: KubeObject & { code?: number } }[]> {
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
