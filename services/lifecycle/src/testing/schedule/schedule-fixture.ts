// Scheduled tasks on a real database and a real cluster API, with a clock that the test moves. The cluster runs no pods:
// the test plays the operator and sets the phase of a server. Storage is a fake service on the real mesh.

import { randomInt } from "node:crypto";
import { loadSettings } from "@svc/config";
import { resources, startInformer } from "@svc/kube";
import { backups, Fault, type FaultName } from "@svc/proto";
import { startRconServer } from "@svc/rcon";
import { createLogger, createRegistry } from "@svc/telemetry";
import { rconSecretRef, type Server, servers } from "../../cluster/resource.ts";
import { settings } from "../../config.ts";
import { createServerRcon } from "../../console/rcon.ts";
import type { LifecycleStore, Tables } from "../../database/schema.ts";
import type { ScheduleDeps } from "../../schedule/deps.ts";
import { never, type ScheduleRow } from "../../schedule/row.ts";
import { createScheduler, type Scheduler } from "../../schedule/scheduler.ts";
import { scheduleDepsOf } from "../../schedule/serve.ts";
import type { ServerDeps } from "../../server/deps.ts";
import { createServerStore } from "../../server/store.ts";
import { createWakeReservations } from "../../server/wake-reservations.ts";
import { type Fixture, namespace, openFixture } from "../fixture.ts";

export const minute = 60_000;
const password = "0123456789abcdef0123456789abcdef";

/** What storage answers; a test changes it. */
type Storage = {
  refusal: FaultName | undefined;
  state: "running" | "succeeded" | "failed";
  message: string | undefined;
  /** Keys of the runs that were started; a repeat counts once. */
  runs: Set<string>;
};

export type ScheduleFixture = {
  base: Fixture;
  clock: { now: number };
  storage: Storage;
  /** Commands that the servers received. */
  commands: string[];
  deps: ScheduleDeps;
  database: LifecycleStore;
  /** Another replica; `change` wraps its dependencies. */
  replica: (change?: (deps: ScheduleDeps) => ScheduleDeps) => Scheduler;
  makeServer: (name: string, state?: State) => Promise<void>;
  /** Writes what the operator would. */
  setState: (name: string, state: State) => Promise<void>;
  getServer: (name: string) => Promise<Server>;
  addTask: (server: string, about: Partial<ScheduleRow> & Pick<ScheduleRow, "action">) => Promise<number>;
  read: (id: number) => Promise<ScheduleRow>;
  /** Results of a task's runs, in the order of their events. */
  reportedResults: (id: number) => Promise<string[]>;
  close: () => Promise<void>;
};

export type State = {
  desired: "Running" | "Stopped";
  phase: "Running" | "Stopped" | "Stopping" | "Failed";
  /** Who is counted; nobody unless it is said. */
  online?: number;
};
export const running: State = { desired: "Running", phase: "Running" };
export const stopped: State = { desired: "Stopped", phase: "Stopped" };

export async function openScheduleFixture(overrides: readonly string[] = []): Promise<ScheduleFixture> {
  const base = await openFixture();
  const mesh = await base.nats.connect("lifecycle");
  const log = createLogger("lifecycle", "silent");
  const database = base.database.open<Tables>({ poolSize: 8 });
  const informer = startInformer({ kube: base.kube, resource: servers, namespace, log });
  await informer.ready;
  const clock = { now: Date.parse("2026-03-02T04:00:00.000Z") };
  const common = {
    kube: base.kube,
    mesh,
    servers: informer,
    namespace,
    store: createServerStore(database),
    settings: loadSettings(settings, { overrides: [...overrides] }).lifecycle,
    nodes: informer,
    countSoon: () => false,
    waking: createWakeReservations(),
  } as unknown as ServerDeps;
  const rcon = createServerRcon(common);
  const deps = scheduleDepsOf(
    { deps: common, database, registry: createRegistry("lifecycle", "test"), log, rcon },
    () => clock.now,
  );
  const { storage, mesh: storageMesh } = await serveStorage(base);
  const console = await startConsole();
  const fixture = { base, clock, storage, commands: console.commands, deps, database };
  return {
    ...fixture,
    replica: (change = (same) => same) => createScheduler(change(deps)),
    ...createActions(fixture, console.host),
    close: async () => {
      await rcon.close();
      await console.close();
      await informer.stop();
      await Promise.all([mesh.drain(500), storageMesh.drain(500)]);
      await database.close();
      await base.close();
    },
  };
}

async function serveStorage(base: Fixture) {
  const storage: Storage = { refusal: undefined, state: "succeeded", message: undefined, runs: new Set() };
  const mesh = await base.nats.connect("storage");
  mesh.serve(backups.startScheduledBackup, async (_context, { name, run_key }) => {
    const server = await base.kube.get(servers, { name, namespace });
    if (storage.refusal) throw new Fault(storage.refusal);
    if (server.status?.phase !== "Stopped") throw new Fault("not_stopped");
    storage.runs.add(run_key);
    return { job: `backup-${run_key}` };
  });
  mesh.serve(backups.readBackupRun, (_context, { job }) => {
    if (storage.refusal) throw new Fault(storage.refusal);
    if (!storage.runs.has(job.replace(/^backup-/, ""))) throw new Fault("not_found");
    return { state: storage.state, ...(storage.message !== undefined && { message: storage.message }) };
  });
  await mesh.announce();
  return { storage, mesh };
}

async function startConsole() {
  const commands: string[] = [];
  // RCON has one port, so this console has an address of its own.
  const host = `127.${randomInt(112, 120)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const onCommand = (command: string) => {
    commands.push(command);
    return `§adone:§r ${command}`;
  };
  const server = await startRconServer({ host, port: 25_575, password, onCommand, maxConnections: 64 });
  return { commands, host, close: () => server.close() };
}

type Actions = Pick<
  ScheduleFixture,
  "makeServer" | "setState" | "getServer" | "addTask" | "read" | "reportedResults"
>;

function createActions(
  { base, clock, deps }: Pick<ScheduleFixture, "base" | "clock" | "deps">,
  host: string,
): Actions {
  const { kube, database } = base;
  const setState: Actions["setState"] = async (name, { desired, phase, online = 0 }) => {
    const target = { name, namespace };
    await kube.patch(servers, target, { merge: { spec: { desiredState: desired } } });
    const isUp = phase === "Running";
    const endpoint = isUp ? { mode: "direct", address: `${host}:25565` } : { mode: "fallback", address: "" };
    const merge = { status: { phase, ready: isUp, endpoint, players: { online, max: 20 } } };
    deps.servers.remember(await kube.patch(servers, target, { merge, subresource: "status" }));
  };
  const read: Actions["read"] = async (id) => {
    const [row] = await database.admin("select * from lifecycle.server_schedules where id = $1", [id]);
    return row as unknown as ScheduleRow;
  };
  return {
    setState,
    read,
    makeServer: async (name, state = running) => {
      const spec = { subdomain: name, image: "svc.local/nothing:1", rcon: { enabled: true } };
      const head = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" };
      const server = { ...head, metadata: { name, namespace }, spec };
      await kube.create(servers, server);
      await kube.create(resources.secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: rconSecretRef(server).name, namespace },
        data: { [rconSecretRef(server).key]: Buffer.from(password).toString("base64") },
      });
      await database.admin("insert into lifecycle.servers (name, owner_id) values ($1, 'usr-1')", [name]);
      await setState(name, state);
    },
    getServer: (name) => kube.get(servers, { name, namespace }),
    addTask: async (server, about) => {
      const at = new Date(clock.now);
      const row = {
        server_name: server,
        owner_id: "usr-1",
        timezone: "UTC",
        next_run_at: about.trigger ? never : new Date(clock.now + 60 * minute),
        minute_of_day: 300,
        created_by: "owner",
        created_at: at,
        updated_at: at,
        ...about,
        ...(about.next_steps && { next_steps: JSON.stringify(about.next_steps) }),
      };
      const columns = Object.keys(row);
      const places = columns.map((_, index) => `$${index + 1}`);
      const text = `insert into lifecycle.server_schedules (${columns.join()}) values (${places.join()}) returning id`;
      const [made] = await database.admin(text, Object.values(row));
      return Number(made?.["id"]);
    },
    reportedResults: async (id) => {
      const text = `select body from lifecycle.outbox where subject like 'svc.evt.lifecycle.schedule.run-finished.%'
        and (body::jsonb ->> 'id')::bigint = $1 order by id`;
      const rows = await database.admin(text, [id]);
      return rows.map(({ body }) => String(JSON.parse(String(body)).result));
    },
  };
}
