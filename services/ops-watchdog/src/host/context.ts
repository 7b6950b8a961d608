// What every command of the host works with.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { connectKube } from "@svc/kube";
import { parseBundleName } from "../bundle/name.ts";
import { readServerObjects } from "../bundle/server-objects.ts";
import type { Settings } from "../config.ts";

export type HostContext = {
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
  /** Pause between attempts to read the servers. */
  serversPauseMs: number;
  /** Step at which the process ends itself with SIGKILL, for tests. */
  killAt: string | undefined;
};

export function readServers({ kubeconfig, settings, serversPauseMs }: HostContext) {
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

export function stepOf({ killAt }: HostContext): (name: string) => void {
  return (name) => {
    if (name === killAt) process.kill(process.pid, "SIGKILL");
  };
}
