// Who holds the world of a server (interface.md 3.2).

import { type Job, type Kube, resources } from "@svc/kube";
import { annotation, label, namespaceOf, type Server } from "./resource.ts";

/** Kinds of lock that stay until they are taken away. */
const lasting: ReadonlySet<string> = new Set(["migration"]);
const jobManagers: ReadonlySet<string> = new Set(["svc-restore", "svc-backup", "svc-files", "svc-export"]);
const readingModes: ReadonlySet<string> = new Set(["list", "read"]);

/** The kind of a lock annotation that is still valid, such as `restore`; undefined when there is none. */
export function lockOf(server: Server, now: number, ttlMs: number): string | undefined {
  const [kind = "", at = ""] = (server.metadata.annotations?.[annotation.maintenance] ?? "").split("@", 2);
  if (kind === "") return undefined;
  if (lasting.has(kind)) return kind;
  const since = Date.parse(at);
  return Number.isNaN(since) || now - since > ttlMs ? undefined : kind;
}

/** What holds the world now, by its lock or by a Job that is not done; undefined when nothing does. */
export async function findHolder(
  kube: Kube,
  server: Server,
  about: { now: number; lockTtlMs: number },
): Promise<string | undefined> {
  const lock = lockOf(server, about.now, about.lockTtlMs);
  if (lock !== undefined) return lock;
  const { items } = await kube.list(resources.jobs, {
    namespace: namespaceOf(server),
    labelSelector: `${label.server}=${server.metadata.name}`,
  });
  return items.find(isHolding)?.metadata.labels?.["app.kubernetes.io/managed-by"]?.replace(/^svc-/, "");
}

function isHolding({ metadata, status }: Job): boolean {
  if (!jobManagers.has(metadata.labels?.["app.kubernetes.io/managed-by"] ?? "")) return false;
  if (readingModes.has(metadata.labels?.[label.filesMode] ?? "")) return false;
  return !status?.conditions?.some(
    ({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True",
  );
}
