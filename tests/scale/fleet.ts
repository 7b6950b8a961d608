// The fleet of tests/scale: servers with an owner for every five, and sessions of these owners. Nearly all sleep; every one
// that wakes runs on the simulated node.

import { connectKube } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { servers } from "../../services/lifecycle/src/cluster/resource.ts";
import { runSql } from "../bench/harness/anchors.ts";
import { growFleet, listedServers } from "../bench/harness/fleet.ts";
import type { BenchStack } from "../bench/harness/stack.ts";

export const namespace = "minecraft";
export const nodeName = "scale-1";
export const serversPerOwner = 5;
const template = "bench-template";
const seenWithinMs = 600_000;

export type Growth = { createdS: number; listedS: number };

/** Makes `count` sleeping servers and waits until the proxy's list has them. */
export async function makeFleet(stack: BenchStack, count: number): Promise<Growth> {
  await stack.ensureServer(template);
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  await kube.patch(servers, { name: template, namespace }, { merge: { spec: { nodeName } } });
  kube.close();
  await makeOwners(stack, Math.ceil(count / serversPerOwner));
  const startedAt = performance.now();
  await growFleet(stack, 0, count);
  const createdS = (performance.now() - startedAt) / 1_000;
  await giveAway(stack);
  await until(
    async () => (await listedServers(stack)) >= count,
    seenWithinMs,
    `${count} servers in the list`,
  );
  return { createdS, listedS: (performance.now() - startedAt) / 1_000 };
}

/** The session token of an owner; any text of the right length is as good as a random one here. */
const tokenOf = (owner: number) => String(owner).padStart(43, "s");

async function makeOwners(stack: BenchStack, count: number): Promise<void> {
  await runSql(
    stack.file().database_url,
    `set search_path to identity;
     insert into users (id, username, email, email_verified)
       select 'usr-scale-' || n, 'owner_' || n, 'owner' || n || '@example.org', true
       from generate_series(0, ${count - 1}) n;
     insert into sessions (token_hash, user_id, door, created_at, expires_at, last_seen_at)
       select encode(sha256(convert_to(lpad(n::text, 43, 's'), 'UTF8')), 'hex'), 'usr-scale-' || n, 'email',
         now(), now() + interval '12 h', now()
       from generate_series(0, ${count - 1}) n;
     analyze users, sessions;`,
  );
}

function giveAway(stack: BenchStack): Promise<void> {
  return runSql(
    stack.file().database_url,
    `update lifecycle.servers
       set owner_id = 'usr-scale-' || (substr(name, 7)::int / ${serversPerOwner}), claimed_at = now()
       where name ~ '^bench-\\d+$'`,
  );
}

/** Where an owner's requests go, and with which headers. */
export function ownerOf(stack: BenchStack, owner: number): { port: number; headers: Record<string, string> } {
  const { external_base_url, panel_host } = stack.file();
  const port = Number(new URL(external_base_url).port);
  const host = panel_host.includes(":") ? panel_host : `${panel_host}:${port}`;
  return { port, headers: { host, cookie: `svc_session=${tokenOf(owner)}` } };
}
