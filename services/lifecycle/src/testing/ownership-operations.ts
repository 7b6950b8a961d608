// Claims and retirements as gateways and proxies call them, for tests on a fixture that is opened later.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Mesh } from "@svc/mesh";
import { account, staff, until, velocity } from "@svc/mesh/testing";
import { ownership as contracts, type InputOf, servers as serverContracts } from "@svc/proto";
import { label, servers } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "./fixture.ts";
import { noImage } from "./server-operations.ts";

const smallPages = ["lifecycle.list_page=7"];

export type OwnershipFixture = Fixture & { identity: Mesh };

/** Two replicas, so that no test passes only because one process does everything, and the system server `lobby`. */
export async function openOwnershipFixture(overrides: readonly string[] = []): Promise<OwnershipFixture> {
  const fixture = await openFixture();
  const all = [...smallPages, ...overrides];
  await Promise.all([fixture.start(all), fixture.start(all)]);
  const identity = await fixture.nats.connect("identity");
  const system = { name: "lobby", namespace, labels: { [label.systemRole]: "lobby" } };
  const spec = { subdomain: "lobby", image: noImage, reaperExempt: true };
  const head = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" };
  await fixture.kube.create(servers, { ...head, metadata: system, spec });
  const close = async () => {
    await identity.drain(500);
    await fixture.close();
  };
  return { ...fixture, identity, close };
}

export type CreateInput = InputOf<typeof serverContracts.create>;

export function createOwnershipOperations(fixture: () => Fixture) {
  const create = (name: string, input: Partial<CreateInput> = {}) => {
    const about = { name, subdomain: name, image: noImage, ...input };
    return fixture().external.call(serverContracts.create, about, staff);
  };
  const sql = (text: string, values: unknown[] = []) => fixture().database.admin(text, values);
  const rowOf = async (name: string) => {
    const [row] = await sql("select * from lifecycle.servers where name = $1", [name]);
    assert.ok(row, `${name} has a row`);
    return row;
  };
  const auditsOf = async (action: string, name: string) =>
    (await fixture().audits()).filter((entry) => entry.action === action && entry.server_name === name);
  return {
    create,
    createAll: (prefix: string, count: number, input: Partial<CreateInput> = {}) =>
      Promise.all(
        Array.from({ length: count }, async (_, index) => (await create(`${prefix}-${index}`, input)).name),
      ),
    sql,
    rowOf,
    ownerOf: async (name: string) => (await rowOf(name))["owner_id"],
    specOf: async (name: string) => (await fixture().kube.get(servers, { name, namespace })).spec,
    link: (user_id: string, role: "user" | "admin" = "user") => {
      const player = randomUUID();
      fixture().people.links.set(player, { user_id, role });
      return player;
    },
    claim: (name: string, user: string) => fixture().external.call(contracts.claim, { name }, account(user)),
    claimFor: (name: string, mc_uuid: string) =>
      fixture().internal.call(contracts.claimForPlayer, { name, mc_uuid }, velocity),
    auditsOf,
    untilAudited: (action: string, name: string) =>
      until(async () => (await auditsOf(action, name)).length > 0),
  };
}
