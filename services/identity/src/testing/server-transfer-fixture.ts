// The parties of a server transfer: identity, lifecycle's side of it, sources and targets.

import { randomUUID } from "node:crypto";
import {
  accountMigrations as contracts,
  Fault,
  isFault,
  ownership,
  type Principal,
  type quotas,
} from "@svc/proto";
import { linkPlayer } from "../link/store.ts";
import { type Fixture, type NewPerson, type Person, startFixture } from "./fixture.ts";

const velocity: Principal = { kind: "caller", caller: "velocity" };
type Moving = { transfer_id: string; from_user_id: string; to_user_id: string; limits: quotas.Limits };

/** Lifecycle's side: the owners of servers, transferred all or nothing, once for each id. */
function createLifecycle() {
  const owners = new Map<string, string>();
  const moved = new Map<string, string[]>();
  const released: string[] = [];
  const state = {
    /** Accounts whose servers were released. */
    released,
    calls: 0,
    /** Runs before a move; may throw or wait. */
    before: async () => {},
    /** Runs after a move; may throw or wait. */
    after: async () => {},
    own: (userId: string, ...names: string[]) => {
      for (const name of names) owners.set(name, userId);
    },
    /** Resets everything but the owners of servers. */
    calm: () => {
      state.calls = 0;
      state.before = async () => {};
      state.after = async () => {};
    },
    release: (userId: string) => {
      released.push(userId);
      const names = state.ownedBy(userId);
      for (const name of names) owners.delete(name);
      return { released: names };
    },
    ownedBy: (userId: string) => [...owners].filter(([, id]) => id === userId).map(([name]) => name),
    transfer: async (input: Moving) => {
      state.calls += 1;
      await state.before();
      const servers = moved.get(input.transfer_id) ?? state.move(input);
      await state.after();
      return { servers };
    },
    move: (input: Moving) => {
      const servers = state.ownedBy(input.from_user_id).sort();
      const { max_servers: most } = input.limits;
      const total = servers.length + state.ownedBy(input.to_user_id).length;
      if (most !== null && total > most) throw new Fault("migrate_quota_exceeded");
      for (const name of servers) owners.set(name, input.to_user_id);
      moved.set(input.transfer_id, servers);
      return servers;
    },
  };
  return state;
}

/** The operations of a server transfer, as the proxy and browsers call them. */
function createSteps(fixture: Fixture) {
  const as = (person: Person) => ({ principal: person.principal });
  const steps = {
    open: (mc_uuid: string) => fixture.internal.call(contracts.start, { mc_uuid }, { principal: velocity }),
    read: (person: Person) => fixture.gateway.call(contracts.read, {}, as(person)),
    startCode: (person: Person) => fixture.gateway.call(contracts.startCode, {}, as(person)),
    mailCode: async (person: Person & { email: string }) => {
      await steps.startCode(person);
      return fixture.smtp.codeTo(person.email);
    },
    verify: (person: Person, code: string) =>
      fixture.gateway.call(contracts.verifyCode, { code }, as(person)),
    issue: (person: Person, target_user_id: string) =>
      fixture.gateway.call(contracts.issueCode, { target_user_id }, as(person)),
    redeem: (person: Person, code: string) => fixture.gateway.call(contracts.redeem, { code }, as(person)),
  };
  return steps;
}

export type ServerTransferFixture = Awaited<ReturnType<typeof startServerTransferFixture>>;
export const retired = { disabled: true, deleted: true };
export const live = { disabled: false, deleted: false };

export async function startServerTransferFixture() {
  const fixture = await startFixture({
    set: [
      "smtp.max_per_hour=100000",
      "identity.migration_retry=20ms",
      "identity.deletion_retry=20ms",
      "identity.notice_every=50ms",
    ],
  });
  const lifecycle = createLifecycle();
  fixture.lifecycle.serve(ownership.transferAccount, (_context, input) => lifecycle.transfer(input));
  fixture.lifecycle.serve(ownership.releaseAccount, (_context, { user_id }) => lifecycle.release(user_id));
  const steps = createSteps(fixture);
  /** Links a new player to a person. */
  const link = async (userId: string) => {
    const mcUuid = randomUUID();
    await fixture.store.db
      .transaction()
      .execute((trx) => linkPlayer(trx, { userId, mcUuid, authSource: "mojang", now: fixture.now() }));
    return mcUuid;
  };
  const player = async (about: NewPerson = {}) => {
    const email = `giver-${randomUUID().slice(0, 8)}@example.org`;
    const person = await fixture.person({ email, emailVerified: true, ...about });
    return { ...person, email, mcUuid: await link(person.userId) };
  };
  /** A source with servers that has confirmed. */
  const confirmed = async (...names: string[]) => {
    const source = await player();
    lifecycle.own(source.userId, ...names);
    await steps.open(source.mcUuid);
    await steps.verify(source, await steps.mailCode(source));
    return source;
  };
  return {
    fixture,
    lifecycle,
    ...steps,
    link,
    player,
    confirmed,
    /** A source and a target with an issued code. */
    ready: async (...names: string[]) => {
      const [source, target] = [await confirmed(...names), await fixture.person()];
      const { code } = await steps.issue(source, target.userId);
      return { source, target, code };
    },
    account: async (userId: string) => {
      const rows = await fixture.database.admin(
        "select disabled, deleted_at is not null as deleted from identity.users where id = $1",
        [userId],
      );
      return rows[0];
    },
    rowOf: async (sourceId: string) => {
      const rows = await fixture.database.admin(
        "select id, state from identity.account_migrations where source_user_id = $1",
        [sourceId],
      );
      return rows.at(-1);
    },
  };
}

/** A new server name. */
export const newName = () => `world-${randomUUID().slice(0, 8)}`;

/** The fault of a rejection, or `none`. */
export async function faultOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return "none";
  } catch (error) {
    return isFault(error) ? error.fault : String(error);
  }
}
