import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { sign } from "node:crypto";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { until } from "@svc/mesh/testing";
import { apiTokens, isFault, sshKeys, users } from "@svc/proto";
import { sha256 } from "../secret.ts";
import { type Fixture, type Person, startFixture } from "../testing/fixture.ts";
import type { KillPoint } from "../testing/killed-process.ts";
import { ed25519Key, type SshKeyPair, signedRequest } from "../testing/ssh-keys.ts";

const program = testProgram(fileURLToPath(new URL("../testing/killed-ssh-key.ts", import.meta.url)));
const endpoint = { host: "sftp.example.net", port: 2_222, fingerprint: `SHA256:${"A".repeat(43)}` };

describe("SSH keys", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: ["identity.ssh_keys_per_account=3", "identity.ssh_sessions_per_account=2"],
    });
    await fixture.addReplica();
  });
  after(() => fixture.stop());

  const as = ({ principal }: Person) => ({
    principal,
    client: { address: "192.0.2.7", userAgent: "browser" },
  });
  const sftp = { principal: { kind: "caller" as const, caller: "sftp" as const } };
  const lineOf = ({ blob }: SshKeyPair) => `ssh-ed25519 ${blob.toString("base64")} ada@laptop`;
  const add = async (person: Person, pair: SshKeyPair, name?: string) => {
    const input = { public_key: lineOf(pair), ...(name !== undefined && { name }) };
    return (await fixture.gateway.call(sshKeys.add, input, as(person))).key;
  };
  const list = async (person: Person) => (await fixture.gateway.call(sshKeys.list, {}, as(person))).keys;
  const remove = (person: Person, id: string) => fixture.gateway.call(sshKeys.remove, { id }, as(person));
  const open = ({ blob, key }: SshKeyPair, user = "survival", signer = key) => {
    const signed = signedRequest({ algorithm: "ssh-ed25519", blob, user });
    const signature = sign(null, signed, signer);
    return fixture.internal.call(
      sshKeys.openSession,
      {
        ...{ signed: signed.toString("base64"), signature: signature.toString("base64") },
        ...{ client_ip: "192.0.2.9", client_software: "SSH-2.0-OpenSSH_9.2" },
      },
      sftp,
    );
  };
  const close = (id: string) => fixture.internal.call(sshKeys.closeSession, { id }, sftp);
  const resolve = (secret: string) =>
    fixture.gateway.call(
      apiTokens.resolve,
      { hash: sha256(secret) },
      { client: { address: "192.0.2.8", userAgent: "sftp" } },
    );
  const faultOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(isFault(error), String(error));
    return error.fault;
  };
  const entriesOf = ({ userId }: Person) =>
    fixture.database.admin(
      "select action, payload, client_ip, user_agent from identity.audit_logs where actor_user_id = $1 order by id",
      [userId],
    );

  test("one that is added opens a session for the server that was signed, and says when and from where", async () => {
    const [person, pair] = [await fixture.person(), ed25519Key()];
    const key = await add(person, pair);
    assert.deepEqual([key.name, key.type, key.last_used_at], ["ada@laptop", "ssh-ed25519", undefined]);
    const session = await open(pair);
    assert.deepEqual([session.user_id, session.server], [person.userId, "survival"]);
    const answer = await resolve(session.secret);
    assert.ok(answer.state === "live");
    assert.deepEqual(answer.grant, {
      id: session.id,
      rights: ["see", "files.read", "files.write"],
      servers: ["survival"],
    });
    const [used] = await list(person);
    assert.deepEqual([used?.last_used_at, used?.last_used_ip], [fixture.now().toISOString(), "192.0.2.9"]);
    await until(async () => (await entriesOf(person)).length === 2);
    // Both came in the same moment of this clock, so either may be first.
    const entries = await entriesOf(person);
    const actions = entries.map(({ action }) => String(action)).sort();
    assert.deepEqual(actions, ["account.ssh-key.add", "auth.sftp.login"]);
    const opened = entries.find(({ action }) => action === "auth.sftp.login");
    assert.equal(opened?.["user_agent"], "SSH-2.0-OpenSSH_9.2");
    const tokens = await fixture.gateway.call(apiTokens.list, {}, as(person));
    assert.deepEqual(tokens.tokens, [], "a session is no token of the account page");
    const revoked = fixture.gateway.call(apiTokens.revoke, { id: session.id }, as(person));
    assert.equal(await faultOf(revoked), "token_not_found");
  });

  test("belongs to one account only, needs a fresh proof, and there may be so many", async () => {
    const [person, other, pair] = [await fixture.person(), await fixture.person(), ed25519Key()];
    await add(person, pair);
    assert.equal(await faultOf(add(person, pair)), "ssh_key_taken");
    assert.equal(await faultOf(add(other, pair)), "ssh_key_taken");
    const more = await Promise.allSettled(Array.from({ length: 4 }, () => add(person, ed25519Key())));
    assert.equal(more.filter(({ status }) => status === "fulfilled").length, 2);
    assert.equal(await faultOf(add(person, ed25519Key())), "ssh_key_limit");
    const email = `${Math.random()}@example.org`;
    const unproven = await fixture.person({ email, emailVerified: true, isProof: false });
    assert.equal(await faultOf(add(unproven, ed25519Key())), "reauth_required");
    const bad = { public_key: "ssh-ed25519 AAAA" };
    assert.equal(await faultOf(fixture.gateway.call(sshKeys.add, bad, as(other))), "bad_ssh_key");
  });

  test("one that is removed ends what it opened, and opens nothing again", async () => {
    const [person, other, pair] = [await fixture.person(), await fixture.person(), ed25519Key()];
    const { id } = await add(person, pair);
    const { secret } = await open(pair);
    const heard: string[] = [];
    const stop = fixture.gateway.listen(
      "svc.evt.identity.session.revoked.*",
      (subject) => void heard.push(subject),
    );
    assert.equal(await faultOf(remove(other, id)), "ssh_key_not_found");
    await remove(person, id);
    assert.equal(await faultOf(remove(person, id)), "ssh_key_not_found");
    await until(() => heard.some((subject) => subject.endsWith(sha256(secret))));
    stop();
    assert.deepEqual(await resolve(secret), { state: "revoked" });
    assert.equal(await faultOf(open(pair)), "ssh_key_refused");
    await add(other, pair);
    assert.equal((await open(pair)).user_id, other.userId);
  });

  test("a wrong signature, an unknown key and a reserved name are refused alike", async () => {
    const [person, pair] = [await fixture.person(), ed25519Key()];
    await add(person, pair);
    assert.equal(await faultOf(open(ed25519Key())), "ssh_key_refused");
    assert.equal(await faultOf(open(pair, "lobby")), "ssh_key_refused");
    assert.equal(await faultOf(open(pair, "survival", ed25519Key().key)), "ssh_key_refused");
  });

  test("a session that is closed is unknown, twice is no error, and no other token is touched", async () => {
    const [person, pair] = [await fixture.person(), ed25519Key()];
    await add(person, pair);
    const { id, secret } = await open(pair);
    await close(id);
    await close(id);
    assert.deepEqual(await resolve(secret), { state: "unknown" });
    const made = await fixture.gateway.call(
      apiTokens.create,
      { name: "deploy", rights: ["see"], expires_in_days: 1 },
      as(person),
    );
    await close(made.token.id);
    assert.equal((await resolve(made.secret)).state, "live");
  });

  test("sessions beyond the limit end the oldest ones, and each ends by itself", async () => {
    const [person, pair] = [await fixture.person(), ed25519Key()];
    await add(person, pair);
    const [first, second, third] = [await open(pair), await open(pair), await open(pair)];
    fixture.pass(1_000);
    const states = async () =>
      Promise.all([first, second, third].map(async ({ secret }) => (await resolve(secret)).state));
    assert.equal((await states()).filter((state) => state === "live").length, 2);
    fixture.pass(12 * 3_600_000);
    assert.ok(!(await states()).includes("live"));
  });

  type End = (person: Person, owner: Person) => Promise<unknown>;
  const ends: Record<string, End> = {
    "its account is disabled": ({ userId: id }, owner) =>
      fixture.gateway.call(users.disable, { id, disabled: true }, as(owner)),
    "its account is deleted": ({ userId: id }, owner) =>
      fixture.gateway.call(users.remove, { id }, as(owner)),
    "an operator ends all sessions of the account": ({ userId: id }, owner) =>
      fixture.gateway.call(users.revokeSessions, { id }, as(owner)),
  };
  for (const [what, end] of Object.entries(ends))
    test(`is gone when ${what}`, async () => {
      const email = `${Math.random()}@example.org`;
      const owner = await fixture.person({ role: "owner", emailVerified: true, email });
      const [person, pair] = [await fixture.person(), ed25519Key()];
      await add(person, pair);
      const { secret } = await open(pair);
      await end(person, owner);
      assert.notEqual((await resolve(secret)).state, "live");
      assert.equal(await faultOf(open(pair)), "ssh_key_refused");
    });

  for (const killPoint of ["before the commit", "after the commit"] as KillPoint[])
    test(`a process killed ${killPoint} has removed key and sessions, or neither`, async () => {
      const [person, pair] = [await fixture.person(), ed25519Key()];
      const { id } = await add(person, pair);
      const { secret } = await open(pair);
      const args = [program, fixture.database.url, killPoint, JSON.stringify(person.principal), id];
      const [, signal] = await once(spawn(process.execPath, args), "exit");
      assert.equal(signal, "SIGKILL");
      const isRemoved = killPoint === "after the commit";
      assert.equal((await list(person)).length, isRemoved ? 0 : 1);
      assert.equal((await resolve(secret)).state, isRemoved ? "revoked" : "live");
    });

  test("identity takes none for itself from an API token", async () => {
    const person = await fixture.person();
    const token = { id: "tok", rights: ["files.write" as const] };
    const principal = { ...person.principal, token };
    const input = { public_key: lineOf(ed25519Key()) };
    assert.equal(await faultOf(fixture.gateway.call(sshKeys.add, input, { principal })), "forbidden");
    assert.equal(await faultOf(fixture.gateway.call(sshKeys.list, {}, { principal })), "forbidden");
  });

  test("the endpoint is shown while it announces itself", async () => {
    const person = await fixture.person();
    const read = async () => (await fixture.gateway.call(sshKeys.readEndpoint, {}, as(person))).endpoint;
    assert.equal(await read(), null);
    await fixture.internal.call(sshKeys.announceEndpoint, { ...endpoint, port: 22 }, sftp);
    await fixture.internal.call(sshKeys.announceEndpoint, endpoint, sftp);
    assert.deepEqual(await read(), endpoint);
    fixture.pass(181_000);
    assert.equal(await read(), null);
  });
});
