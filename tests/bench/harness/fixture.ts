// One fixture: PostgreSQL, NATS, both real gateways, stand-ins for their owners, and the bare building blocks beside them.
// Everything shares the same servers, so a comparison sees the same disk, the same kernel and the same settings.

import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats, startPostgres } from "@svc/local-stack";
import { migrateStreams } from "@svc/mesh/migrate";
import { accounts, type Durable, eventFilter, migrateUser, natsAuthorization, natsUsers } from "@svc/proto";
import { migrateUp, readMigrations } from "@svc/store";
import { type Anchors, natsServer, root, runSql, startAnchors } from "./anchors.ts";
import { type Child, startChild } from "./child.ts";
import { type Service, startService } from "./service.ts";

export type Fixture = {
  dir: string;
  databaseUrl: string;
  natsPid: number;
  postgresPid: number;
  internal: Service;
  external: Service;
  /** Another external gateway that has served nobody yet; the caller stops it. */
  freshExternal: () => Promise<Service>;
  /** `Authorization` of the proxy. */
  authorization: string;
  /** `Cookie` of a session that the stand-in of identity calls live. */
  cookie: string;
  lifecycle: Child;
  identity: Child;
  listener: () => Promise<Child>;
  /** lifecycle's recording of phase changes, on its own schema with 10,000 servers. */
  phases: () => Promise<Child>;
  /** lifecycle's scheduler on the same schema. */
  ticker: () => Promise<Child>;
  /** identity with a hundred thousand users, in a database of its own. */
  accounts: () => Promise<Child>;
  /** storage's daily run, in a database of its own. */
  reaper: () => Promise<Child>;
  /** lifecycle's consoles, on a cluster of logs that `env` names. */
  consoles: (env: NodeJS.ProcessEnv) => Promise<Child>;
  anchors: Anchors;
  /** Environment of an anchor that speaks to NATS. */
  anchorNats: NodeJS.ProcessEnv;
  stop: () => Promise<void>;
};

const anchorUser = "anchor";
const listenerDurable = {
  name: "bench-listener",
  service: "operator",
  stream: "IDENTITY",
  subjects: [eventFilter(accounts.sessionRevoked)],
} as unknown as Durable;

// The shipped users and permissions, and one user without limits for the anchors.
function authorization(passwords: Record<string, string>, anchorPassword: string): string {
  const text = natsAuthorization(passwords);
  const end = text.lastIndexOf("\n  ]\n}");
  if (end < 0) throw new Error("the NATS authorization block has another shape than the bench expects");
  return `${text.slice(0, end)},\n    { user: "${anchorUser}", password: "${anchorPassword}" }${text.slice(end)}`;
}

const [outbox] = readMigrations(undefined);
const identitySchema = `create schema identity; set search_path to identity; ${outbox?.sql}`;

async function prepareLifecycle(url: string): Promise<void> {
  const migrations = readMigrations(join(root, "services/lifecycle/migrations"));
  await migrateUp(url, { schema: "lifecycle", rolePassword: "bench", migrations });
  await runSql(
    url,
    `insert into lifecycle.servers (name, cached_phase)
       select 'bench-' || lpad(n::text, 5, '0'), 'Stopped' from generate_series(0, 9999) n;
     analyze lifecycle.servers;`,
  );
}

/** Starts a fixture; `stop` ends everything and removes its data. */
export async function startFixture(profileDir?: string): Promise<Fixture> {
  const ending: (() => Promise<void>)[] = [];
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const stop = async () => {
    for (const step of ending.splice(0).reverse()) await step();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    return { ...(await assemble({ dir, profileDir }, ending)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(
  { dir, profileDir }: { dir: string; profileDir: string | undefined },
  ending: (() => Promise<void>)[],
): Promise<Omit<Fixture, "stop">> {
  const logDir = join(dir, "logs");
  mkdirSync(logDir);
  const secret = () => randomBytes(16).toString("hex");
  const passwords = Object.fromEntries(natsUsers.map((user) => [user, secret()]));
  const anchorPassword = secret();
  const nats = await startNats({
    binary: await natsServer(),
    dataDir: join(dir, "nats"),
    port: 0,
    extraConfig: authorization(passwords, anchorPassword),
  });
  ending.push(nats.stop);
  await migrateStreams({
    ...{ url: nats.url, user: migrateUser, password: passwords[migrateUser] ?? "" },
    moreDurables: [listenerDurable],
  });
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), port: 0, password: secret() });
  ending.push(postgres.stop);
  await runSql(postgres.url, identitySchema);

  const child = async (file: string, env: NodeJS.ProcessEnv) => {
    const started = await startChild(file, { env, logDir });
    ending.push(started.stop);
    return started;
  };
  const ours = (user: string) => ({
    SVC_NATS_URL: nats.url,
    SVC_NATS_USER: user,
    SVC_NATS_PASSWORD: passwords[user] ?? "",
    SVC_DATABASE_URL: postgres.url,
  });
  const token = secret();
  const gateway = async (name: string) => {
    const own = { SVC_LISTEN: "127.0.0.1:0", SVC_SERVICE_TOKEN: token };
    // All sessions of the bench are one account's, and all its requests come from one address.
    const set = ["gateway.streams_per_account=10000", "gateway.malformed_sign_ins=1000000000"].join("\n");
    const env = { ...process.env, ...ours(name), ...own, SVC_SET: set };
    const started = await startService({ name, logDir, env, profileDir });
    ending.push(started.stop);
    return started;
  };
  const lifecycle = await child("subjects/lifecycle.ts", ours("lifecycle"));
  const identity = await child("subjects/identity.ts", ours("identity"));
  await lifecycle.ask("fill", 0);
  const internal = await gateway("gateway-internal");
  const external = await gateway("gateway-external");
  const anchors = await startAnchors(
    {
      natsUrl: nats.url,
      user: anchorUser,
      password: anchorPassword,
      databaseUrl: postgres.url,
      logDir,
    },
    ending,
  );
  let prepared: Promise<void> | undefined;
  const onLifecycle = async (file: string, more: NodeJS.ProcessEnv = {}) => {
    prepared ??= prepareLifecycle(postgres.url);
    await prepared;
    return child(file, { ...ours("lifecycle"), ...more });
  };
  let phases: Promise<Child> | undefined;
  return {
    dir,
    databaseUrl: postgres.url,
    natsPid: nats.pid,
    postgresPid: postgres.pid,
    internal,
    external,
    authorization: `Bearer ${token}`,
    cookie: `svc_session=${"b".repeat(43)}`,
    lifecycle,
    identity,
    // Nobody but the bench has this consumer, so no user of the installation may pull from it.
    listener: () =>
      child("subjects/listener.ts", {
        ...ours("operator"),
        SVC_NATS_USER: anchorUser,
        SVC_NATS_PASSWORD: anchorPassword,
      }),
    phases: () => (phases ??= onLifecycle("subjects/phases.ts")),
    ticker: () => onLifecycle("subjects/ticker.ts"),
    accounts: () => child("subjects/accounts.ts", ours("identity")),
    reaper: () => child("subjects/reaper.ts", ours("storage")),
    freshExternal: () => gateway("gateway-external"),
    anchorNats: {
      ANCHOR_NATS_URL: nats.url,
      ANCHOR_NATS_USER: anchorUser,
      ANCHOR_NATS_PASSWORD: anchorPassword,
    },
    consoles: (env) => onLifecycle("subjects/console.ts", env),
    anchors,
  };
}
