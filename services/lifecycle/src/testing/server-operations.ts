// Operations on servers as gateways and proxies call them, for tests on a fixture that is opened later.

import { type account, staff, until, velocity } from "@svc/mesh/testing";
import { servers as contracts, type InputOf } from "@svc/proto";
import { type Server, servers } from "../cluster/resource.ts";
import { type Fixture, namespace } from "./fixture.ts";

/** An image that the cluster does not have: its pods stay pending and cost nothing. */
export const noImage = "svc.local/nothing:1";
/** Settings of the replicas of these tests. */
export const operationSettings = ["lifecycle.stop_notice=300ms", "lifecycle.max_running_servers=12"];

export type CreateInput = InputOf<typeof contracts.create>;
type Who = typeof staff | ReturnType<typeof account>;

export function createServerOperations(fixture: () => Fixture) {
  const sql = (text: string, values: unknown[] = []) => fixture().database.admin(text, values);
  const read = (name: string) => fixture().internal.call(contracts.readStatus, { name }, velocity);
  return {
    create: (input: Partial<CreateInput> & { name: string }) =>
      fixture().external.call(contracts.create, { subdomain: input.name, image: noImage, ...input }, staff),
    wakeFor: (name: string, mc_uuid: string) =>
      fixture().internal.call(contracts.wakeForPlayer, { name, mc_uuid }, velocity),
    wake: (name: string, who: Who = staff) => fixture().external.call(contracts.wake, { name }, who),
    patch: (name: string, changes: Partial<InputOf<typeof contracts.patch>>) =>
      fixture().external.call(contracts.patch, { name, ...changes }, staff),
    getServer: (name: string) => fixture().kube.get(servers, { name, namespace }),
    read,
    phase: async (name: string) => (await read(name)).phase,
    annotate: (name: string, values: Record<string, string | null>) =>
      fixture().kube.patch(servers, { name, namespace }, { merge: { metadata: { annotations: values } } }),
    setStatus: (name: string, status: Partial<NonNullable<Server["status"]>>) =>
      fixture().kube.patch(servers, { name, namespace }, { merge: { status }, subresource: "status" }),
    sql,
    setOwner: (name: string, owner: string) =>
      sql("update lifecycle.servers set owner_id = $2 where name = $1", [name, owner]),
    endCooldown: (name: string) =>
      sql("update lifecycle.servers set last_wake_at = null where name = $1", [name]),
    untilAudited: (action: string, name: string) =>
      until(async () =>
        (await fixture().audits()).some((entry) => entry.action === action && entry.server_name === name),
      ),
  };
}
