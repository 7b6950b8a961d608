// Groups of the account usr-1 on the fixture of schedules: their operations, and passes over their runs.

import { randomUUID } from "node:crypto";
import type { Context } from "@svc/mesh";
import { type AnyContract, type serverGroups as contracts, Fault } from "@svc/proto";
import { annotation, servers } from "../../cluster/resource.ts";
import { cancel, change, create, type ManageDeps, read, start, stop } from "../../group/manage.ts";
import { passOverRuns, type RunnerDeps } from "../../group/runner.ts";
import { createGroupStore, deleteGroupsOf } from "../../group/store.ts";
import { namespace, readAudits } from "../fixture.ts";
import { type ScheduleFixture, stopped } from "../schedule/schedule-fixture.ts";

type Stages = readonly (readonly string[])[];

export type GroupFixture = {
  deps: RunnerDeps;
  makeGroup: (stages: Stages) => Promise<string>;
  change: (id: string, stages: Stages) => Promise<unknown>;
  begin: (id: string, direction: contracts.Direction) => Promise<contracts.ServerGroup>;
  cancel: (id: string) => Promise<contracts.ServerGroup>;
  view: (id: string) => Promise<contracts.ServerGroup>;
  run: (id: string) => Promise<contracts.GroupRun>;
  /** One pass of the replica that leads, until nothing is left to do now. */
  pass: () => Promise<void>;
  lock: (name: string) => Promise<unknown>;
  unlock: (name: string) => Promise<unknown>;
  /** Stops servers, so that others may run. */
  sleep: (names: readonly string[]) => Promise<void>;
  /** What the audit log says of servers, by their names. */
  audited: (names: readonly string[]) => Promise<string[]>;
  endAccount: () => Promise<void>;
};

export function createGroupFixture({
  base,
  clock,
  database,
  deps: common,
  setState,
}: ScheduleFixture): GroupFixture {
  const groups = createGroupStore(database);
  const now = () => clock.now;
  const managing: ManageDeps = { groups, now, onChange: () => {} };
  const deps: RunnerDeps = { ...common, groups, now };
  const principal = {
    kind: "account",
    user_id: "usr-1",
    username: "ada",
    role: "user",
    staff: false,
  } as const;
  const fault = (...about: ConstructorParameters<typeof Fault>) => new Fault(...about);
  const context = { principal, client: {}, requestId: "req-1", fault } as unknown as Context<never> &
    Context<AnyContract>;
  const given = (stages: Stages) => ({ stages: stages.map((stage) => [...stage]), stage_seconds: 600 });
  const named = () => `Group ${randomUUID()}`;
  const view = async (id: string) => read(managing)(context, { id });
  const annotate = (name: string, value: string | null) =>
    base.kube.patch(
      servers,
      { name, namespace },
      { merge: { metadata: { annotations: { [annotation.maintenance]: value } } } },
    );
  return {
    deps,
    view,
    makeGroup: async (stages) => (await create(managing)(context, { name: named(), ...given(stages) })).id,
    change: async (id, stages) => change(managing)(context, { id, name: named(), ...given(stages) }),
    begin: async (id, direction) => (direction === "start" ? start : stop)(managing)(context, { id }),
    cancel: async (id) => cancel(managing)(context, { id }),
    run: async (id) => {
      const { run } = await view(id);
      if (!run) throw new Error("the group has no run");
      return run;
    },
    pass: async () => {
      // What was asked is looked at in the next pass.
      for (let left = 2; left > 0; left--) await passOverRuns(deps);
    },
    lock: (name) => annotate(name, `restore@${new Date().toISOString()}`),
    unlock: (name) => annotate(name, null),
    sleep: async (names) => {
      for (const name of names) await setState(name, stopped);
    },
    audited: async (names) => {
      const entries = await readAudits(base.database);
      const ofServers = entries.filter(({ server_name }) => names.includes(server_name ?? ""));
      return ofServers.map(({ action, server_name }) => `${action} ${server_name}`).sort(byServer);
    },
    endAccount: () => database.db.transaction().execute((trx) => deleteGroupsOf(trx, "usr-1")),
  };
}

const serverOf = (line: string) => line.split(" ")[1] ?? "";
const byServer = (one: string, other: string) => serverOf(one).localeCompare(serverOf(other));
