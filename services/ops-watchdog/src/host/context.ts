// What every command of the host works with.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { connectKube } from "@svc/kube";
import { parseBundleName } from "../bundle/name.ts";
import { readServerObjects, type ServerObjects } from "../bundle/server-objects.ts";
import type { Settings } from "../config.ts";
import type { openBucket } from "../offsite/access.ts";

/** What tests set. */
export type HostHooks = {
  /** Pause between attempts to read the servers. */
  serversPauseMs: number;
  /** Called before each step; tests stop the process there. */
  step: (name: string) => void;
  /** Server objects in place of those of the cluster. */
  servers?: ServerObjects;
  /** Pauses and limits of requests to the bucket. */
  timing?: BucketTiming;
};
type BucketTiming = NonNullable<Parameters<typeof openBucket>[2]>["timing"];

export type HostContext = HostHooks & {
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  databaseUrl: string;
  kubeconfig: string | undefined;
  /** NATS, and the user that may make streams. */
  natsUrl: string | undefined;
  natsUser: string;
  natsPassword: string;
  natsReplicas: number | undefined;
  /** JSON of service: password, for roles that a restore makes. */
  rolePasswordsFile: string | undefined;
  /** Server of rehearsals; empty = the one of the database. */
  rehearsalUrl: string;
  version: string;
};

export async function readServers(context: HostContext): Promise<ServerObjects> {
  const { kubeconfig, settings, serversPauseMs, servers } = context;
  if (servers) return servers;
  return readServerObjects(() => connectKube({ kubeconfigFile: kubeconfig }), {
    namespace: settings.k8s.namespace,
    pauseMs: serversPauseMs,
  });
}

/** A name is looked up in the folder; anything with a slash is a path. */
export function pathOf({ settings }: HostContext, bundle: string): string {
  const path = parseBundleName(bundle) ? join(settings.ops_watchdog.bundle_dir, bundle) : resolve(bundle);
  if (!existsSync(path)) throw new Error(`${path} not found; \`svc db list\` lists the bundles`);
  return path;
}

export function needDatabase({ databaseUrl }: HostContext): string {
  if (databaseUrl === "") throw new Error("SVC_DATABASE_URL is not set");
  return databaseUrl;
}
