// Identity on a real PostgreSQL, a real nats-server and a real SMTP server, with a clock that a test moves.

import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import type { CallOptions, Mesh, RawReply } from "@svc/mesh";
import { settleAll, startTestNats, type TestNats } from "@svc/mesh/testing";
import {
  type AccountPrincipal,
  type AnyContract,
  accounts,
  type FaceHost,
  type InputOf,
  isFault,
} from "@svc/proto";
import { type SmtpSink, startSmtpSink } from "@svc/smtp/testing";
import type { Store } from "@svc/store";
import { createTestDatabase, createWire, type TestDatabase, type Wire } from "@svc/store/testing";
import { createLogger, createRegistry, type Logger, type Registry } from "@svc/telemetry";
import type { z } from "zod";
import { authSources } from "../auth-source.ts";
import { type Settings, settings as schema } from "../config.ts";
import type { SessionDoor, Tables } from "../database.ts";
import { oidcProviders } from "../oidc-provider.ts";
import { startIdentity } from "../service.ts";
import { createSession } from "../session/store.ts";

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

export function createIdentityDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ schema: "identity", migrations });
}

export type Person = { userId: string; session: string; cookie: string; principal: AccountPrincipal };
export type NewPerson = {
  role?: "owner" | "admin" | "user";
  email?: string;
  emailVerified?: boolean;
  door?: SessionDoor;
  /** The host of the session; for staff by default the operator console. */
  host?: FaceHost;
  /** Whether the session has a fresh proof; default true. */
  isProof?: boolean;
};

export type Fixture = {
  store: Store<Tables>;
  database: TestDatabase;
  wire: Wire;
  smtp: SmtpSink;
  nats: TestNats;
  registry: Registry;
  gateway: Mesh;
  lifecycle: Mesh;
  /** The internal face. */
  internal: Mesh;
  /** Starts another replica on the same database; it stops with the fixture. */
  addReplica: () => Promise<void>;
  /** Advances the clock. */
  pass: (ms: number) => void;
  now: () => Date;
  /** Creates an account with a session. */
  person: (about?: NewPerson) => Promise<Person>;
  /** Another session of a person. */
  session: (
    userId: string,
    about?: { door?: SessionDoor; host?: FaceHost },
  ) => Promise<{ cookie: string; hash: string }>;
  /** A call that must fail: the name of the fault and its Retry-After. */
  refused: <C extends AnyContract>(
    contract: C,
    input: InputOf<C>,
    options?: CallOptions,
  ) => Promise<{ fault: string; retryAfterSeconds: number | undefined }>;
  forward: <C extends AnyContract>(
    contract: C,
    input: InputOf<C>,
    options?: CallOptions,
  ) => Promise<RawReply>;
  metric: (line: string) => Promise<number>;
  stop: () => Promise<void>;
};

type FixtureOptions = {
  /** Overrides as in `--set`. */
  set?: readonly string[];
  /** False for an installation without a mail relay. */
  hasRelay?: boolean;
  /** `[[identity.oidc_provider]]` of the configuration. */
  oidcProviders?: z.input<typeof oidcProviders>;
  /** `[[auth_source]]` of the configuration. */
  authSources?: z.input<typeof authSources>;
};

export async function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  await using stack = new AsyncDisposableStack();
  const { database, nats, smtp, wire, store, connect } = await openParts(stack);
  const log = createLogger("identity", "silent");
  const registry = createRegistry("identity", "test");
  const [mesh, gateway, lifecycle, internal] = await settleAll([
    connect("identity", { registry }),
    connect("gateway-external"),
    connect("lifecycle"),
    connect("gateway-internal"),
  ]);
  stack.adopt(database.relayOutbox(mesh.publish, wire.url), (relay) => relay.close());
  let clock = Date.now();
  const now = () => new Date(clock);
  const mail = [`smtp.host=127.0.0.1`, `smtp.port=${smtp.port}`, "smtp.from=svc@example.org"];
  const overrides = [...(options.hasRelay === false ? [] : mail), ...(options.set ?? [])];
  const loaded = loadSettings(schema, { overrides });
  const settings = {
    ...loaded,
    auth_source: authSources.parse(options.authSources),
    identity: { ...loaded.identity, oidc_provider: oidcProviders.parse(options.oidcProviders) },
  };
  const running = await startIdentity({ settings, log, registry, mesh, store, now });
  stack.defer(() => running.stop?.());
  const replicas = createReplicas({ settings, log, now, nats, database, url: wire.url });
  stack.defer(replicas.stop);
  const owned = stack.move();
  const people = createPeople(store, now, settings.identity.session_ttl);
  return {
    store,
    database,
    wire,
    smtp,
    nats,
    registry,
    gateway,
    lifecycle,
    internal,
    addReplica: replicas.add,
    now,
    pass: (ms) => {
      clock += ms;
    },
    ...people,
    refused: async (contract, input, given) => {
      const error = await gateway.call(contract, input, given).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!isFault(error)) throw new Error(`not a fault: ${String(error)}`);
      return { fault: error.fault, retryAfterSeconds: error.retryAfterSeconds };
    },
    forward: (contract, input, given) => gateway.forward(contract, input, given),
    metric: async (line) => {
      const found = (await registry.metrics()).split("\n").find((text) => text.startsWith(`${line} `));
      return Number(found?.slice(line.length + 1) ?? 0);
    },
    stop: () => owned.disposeAsync(),
  };
}

/** Everything that identity needs; closed by `stack`. */
async function openParts(stack: AsyncDisposableStack) {
  const [database, nats, smtp] = await settleAll([
    createIdentityDatabase().then((database) => stack.adopt(database, () => database.drop())),
    startTestNats().then((nats) => stack.adopt(nats, () => nats.stop())),
    startSmtpSink().then((smtp) => stack.adopt(smtp, () => smtp.stop())),
  ]);
  const wire = stack.adopt(await createWire(database.url), (wire) => wire.cut());
  const store = stack.adopt(database.open<Tables>({ url: wire.url }), (store) => store.close());
  const connect = async (...about: Parameters<TestNats["connect"]>) => {
    const mesh = await nats.connect(...about);
    return stack.adopt(mesh, () => mesh.drain(1_000));
  };
  return { database, nats, smtp, wire, store, connect };
}

type ReplicaNeeds = {
  settings: Settings;
  log: Logger;
  now: () => Date;
  nats: TestNats;
  database: TestDatabase;
  url: string;
};

function createReplicas({ settings, log, now, nats, database, url }: ReplicaNeeds) {
  const stops: (() => Promise<void>)[] = [];
  return {
    add: async () => {
      const mesh = await nats.connect("identity");
      const store = database.open<Tables>({ url });
      const registry = createRegistry("identity", "test");
      const running = await startIdentity({ settings, log, now, mesh, store, registry });
      await mesh.announce();
      stops.push(async () => {
        await running.stop?.();
        await mesh.drain(1_000);
        await store.close();
      });
    },
    stop: async () => void (await Promise.all(stops.map((stop) => stop()))),
  };
}

function createPeople(
  store: Store<Tables>,
  now: () => Date,
  ttlMs: number,
): Pick<Fixture, "person" | "session"> {
  const newSession = (
    userId: string,
    about: { door?: SessionDoor; isProof?: boolean; host?: FaceHost | undefined },
  ) =>
    store.db.transaction().execute((trx) =>
      createSession(trx, {
        userId,
        door: about.door ?? "setup",
        client: { address: "192.0.2.7", userAgent: "browser", ...(about.host && { host: about.host }) },
        now: now(),
        ttlMs,
        isProof: about.isProof ?? true,
      }),
    );
  return {
    person: async (about = {}) => {
      const userId = randomBytes(16).toString("hex");
      const { role = "user", email = null, emailVerified = false } = about;
      const username = `name-${userId.slice(0, 6)}`;
      await store.db
        .insertInto("users")
        .values({ id: userId, username, role, email, email_verified: emailVerified })
        .execute();
      const host = about.host ?? (role === "user" ? "player" : "operator");
      const { value, tokenHash } = await newSession(userId, { ...about, host });
      const principal: AccountPrincipal = {
        kind: "account",
        user_id: userId,
        username,
        role,
        staff: role !== "user",
        setup: false,
        session: tokenHash,
      };
      return { userId, session: tokenHash, cookie: value, principal };
    },
    session: async (userId, about = {}) => {
      const { value, tokenHash } = await newSession(userId, about);
      return { cookie: value, hash: tokenHash };
    },
  };
}

/** The state that a gateway gets for a session. */
export async function stateOf(fixture: Fixture, hash: string): Promise<accounts.SessionAnswer> {
  return fixture.gateway.call(accounts.resolveSession, { hash, is_use: true });
}
