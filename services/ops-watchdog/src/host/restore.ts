// Commands of the host that replace a database or rehearse it.

import { basename } from "node:path";
import { connectKube } from "@svc/kube";
import { readRolePasswords } from "@svc/store/role-passwords";
import { listBundles } from "../bundle/folder.ts";
import { type Manifest, serversMember } from "../bundle/manifest.ts";
import type { ServerObject } from "../bundle/server-objects.ts";
import { connect } from "../bundle/snapshot.ts";
import { takeBundle } from "../bundle/take.ts";
import { readManifest, unpacked, verifyBundle } from "../bundle/verify.ts";
import { findStaff, type StaffOfBundle } from "../restore/accounts.ts";
import { applyServers, type Differences, findDifferences, missingServers } from "../restore/differences.ts";
import { openMembers } from "../restore/member.ts";
import { rehearse } from "../restore/rehearse.ts";
import { restore } from "../restore/restore.ts";
import { ownedSchemas, problemOfVersions } from "../restore/schemas.ts";
import type { Command } from "./command.ts";
import { type HostContext, needDatabase, pathOf, readServers } from "./context.ts";
import { hasData } from "./has-data.ts";

type RestoreCommand = Extract<
  Command,
  { do: "plan-restore" | "restore" | "rehearse" | "differences" | "apply-servers" }
>;

export async function runRestoreCommand(context: HostContext, command: RestoreCommand): Promise<unknown> {
  switch (command.do) {
    case "plan-restore":
      return planRestore(context, command.bundle);
    case "restore":
      return runRestore(context, command);
    case "rehearse":
      return runRehearsal(context, command.bundle);
    case "differences":
      return showDifferences(context);
    case "apply-servers":
      return runApplyServers(context, command);
  }
}

/** What a restore would do; the bundle is read to its last row. */
async function planRestore(context: HostContext, bundle: string) {
  const url = needDatabase(context);
  const path = pathOf(context, bundle);
  const { manifest } = await verifyBundle(path, { rows: true, sidecar: false });
  const problem = problemOfVersions(manifest, ownedSchemas());
  if (problem !== undefined) throw new Error(problem);
  const target = new URL(url);
  const staff = await staffOf(url, { path, manifest });
  return {
    path,
    bundle: manifest.name,
    taken_at: manifest.taken_at,
    ...(manifest.recovered_to !== undefined && { recovered_to: manifest.recovered_to }),
    counts: manifest.counts,
    target: { host: target.host, database: decodeURIComponent(target.pathname.slice(1)) },
    has_data: await hasData(url),
    staff,
  };
}

/** Who could sign in as staff: the bundle may be old, or somebody else's. */
async function staffOf(
  url: string,
  { path, manifest }: { path: string; manifest: Manifest },
): Promise<StaffOfBundle[]> {
  const tables = manifest.schemas.find(({ name }) => name === "identity")?.tables;
  const users = tables?.find(({ name }) => name === "users");
  if (!users) return [];
  const members = await openMembers(path, manifest);
  try {
    return await findStaff(url, unpacked(members.read(users.member), users.member), users.columns);
  } finally {
    await members.close();
  }
}

async function runRestore(
  context: HostContext,
  { bundle, force, safety }: { bundle: string; force: boolean; safety: boolean },
) {
  const url = needDatabase(context);
  const path = pathOf(context, bundle);
  const { natsUrl, natsUser, natsPassword, natsReplicas, rolePasswordsFile, settings, version } = context;
  if (!natsUrl)
    throw new Error(
      "SVC_NATS_URL, SVC_NATS_USER (migrate) and SVC_NATS_PASSWORD are needed: the streams are rebuilt",
    );
  if (!rolePasswordsFile) throw new Error("SVC_ROLE_PASSWORDS_FILE is not set");
  const takeSafetyBundle = async () => {
    if (!(await hasData(url))) return undefined;
    const taken = await takeBundle(
      {
        url,
        settings: settings.ops_watchdog,
        version,
        readServers: () => readServers(context),
        path: context.env["PATH"],
        now: () => new Date(),
      },
      "pre-restore",
      { inUse: [basename(path)] },
    );
    return taken.name;
  };
  return restore(
    {
      url,
      rolePasswords: readRolePasswords(rolePasswordsFile),
      nats: { url: natsUrl, user: natsUser, password: natsPassword, replicas: natsReplicas },
      bundleDir: settings.ops_watchdog.bundle_dir,
      schemas: ownedSchemas(),
      takeSafetyBundle: safety ? takeSafetyBundle : undefined,
      step: context.step,
    },
    { path, force },
  );
}

/** Rehearses the newest whole bundle, or the one that is named, and records how it went. */
async function runRehearsal(context: HostContext, bundle: string | undefined) {
  const { settings, rehearsalUrl } = context;
  const url = needDatabase(context);
  const newest = (await listBundles(settings.ops_watchdog.bundle_dir)).find(
    ({ problem }) => problem === undefined,
  );
  const path = bundle === undefined ? newest?.path : pathOf(context, bundle);
  if (path === undefined) throw new Error("there is no bundle to rehearse; `svc db backup` takes one");
  const startedAt = new Date();
  const result = await rehearse(rehearsalUrl || url, { path, schemas: ownedSchemas(), step: context.step });
  const client = await connect(url, "svc-rehearsal-record");
  try {
    const name = basename(path);
    await client.query(
      "insert into ops_watchdog.rehearsals (bundle, started_at, duration_ms, row_count, error) values ($1, $2, $3, $4, $5)",
      [name, startedAt, Math.round(result.durationMs), result.rows, result.error ?? null],
    );
    return { bundle: name, at: startedAt.toISOString(), ...result };
  } finally {
    await client.end();
  }
}

async function showDifferences(context: HostContext): Promise<Differences> {
  const kube = connectKube({ kubeconfigFile: context.kubeconfig });
  try {
    return await findDifferences(needDatabase(context), { kube, namespace: context.settings.k8s.namespace });
  } finally {
    kube.close();
  }
}

type Apply = { bundle?: string | undefined; apply: boolean };

/** Servers that have a row and no object; made when `apply` is set. */
async function runApplyServers(context: HostContext, { bundle, apply }: Apply) {
  const { without_object } = await showDifferences(context);
  const found = await findObjects(context, { bundle, names: without_object });
  const missing = found.map(({ object, from }) => ({ name: object.metadata.name, from }));
  const lost = without_object.filter((name) => !missing.some((one) => one.name === name));
  if (!apply) return { missing, lost, made: [] };
  const kube = connectKube({ kubeconfigFile: context.kubeconfig });
  try {
    const objects = found.map(({ object }) => object);
    return { missing, lost, made: await applyServers(kube, objects) };
  } finally {
    kube.close();
  }
}

/**
 * Each from the newest bundle that has it, or from the one that is named. The newest of all may have none: it is the one
 * that a restore took of an empty platform first, or a daily one of the time before the objects were made.
 */
async function findObjects(
  context: HostContext,
  { bundle, names }: { bundle: string | undefined; names: readonly string[] },
): Promise<{ object: ServerObject; from: string }[]> {
  const bundles = await listBundles(context.settings.ops_watchdog.bundle_dir);
  const usable = bundles.filter(
    ({ problem, manifest }) => problem === undefined && manifest?.server_objects !== undefined,
  );
  const paths = bundle === undefined ? usable.map(({ path }) => path) : [pathOf(context, bundle)];
  if (paths.length === 0) throw new Error("no bundle has server objects");
  const left = new Set(names);
  const { namespace } = context.settings.k8s;
  const found: { object: ServerObject; from: string }[] = [];
  for (const path of paths) {
    if (left.size === 0) break;
    for (const object of missingServers(left, await readObjects(path), namespace)) {
      found.push({ object, from: basename(path) });
      left.delete(object.metadata.name);
    }
  }
  return found;
}

async function readObjects(path: string): Promise<ServerObject[]> {
  const members = await openMembers(path, await readManifest(path));
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of members.read(serversMember)) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as ServerObject[];
  } finally {
    await members.close();
  }
}
