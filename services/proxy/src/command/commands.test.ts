import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import type { FaultName } from "@svc/proto";
import { type Fixture, runningAt, serverInfo, startFixture } from "../testing/fixture.ts";
import { refusal } from "../testing/service.ts";

const limit = { timeout: 60_000 * patience };
const settings = { SVC_PROXY_ACTION_BURST: "1000", SVC_PROXY_LOOK_AGAIN_MS: "1" };
const options = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) => {
    service.servers.set("survival", runningAt("survival", survival));
    service.servers.set("creative", serverInfo("creative"));
  },
};

async function startWithPlayer(host: string) {
  const fixture = await startFixture(settings, options);
  const account = fixture.account("alice");
  const alice = await fixture.passRaw(account, host);
  await (host.startsWith("survival") ? fixture.survival : fixture.lobby).player("alice");
  /** What the player reads next after this command. */
  const says = async (command: string) => {
    const { length } = alice.chat;
    alice.command(command);
    return alice.until(() => alice.chat[length]);
  };
  const refuses = (subject: string, name: FaultName) =>
    fixture.service.answers.set(subject, () => refusal(name));
  return { fixture, account, alice, says, refuses };
}

test("every command answers with its result or its usage", limit, async () => {
  const { fixture, account, says, refuses } = await startWithPlayer("play.example");
  await using _ = fixture;
  const rows: [command: string, words: RegExp][] = [
    ["felis", /^You are on lobby\. Waiting for: -\.$/],
    ["FELIS List", /^Servers: creative, survival$/],
    ["felis server", /^Servers: creative, survival$/],
    ["felis help", /\/felis go <server>/],
    ["felis web", /^Panel: https:\/\/console\.play\.example$/],
    ["felis nonsense", /Type \/felis help/],
    ["felis go", /Type \/felis help/],
    ["felis web op", /Type \/felis help/],
    ["felis web op approve ../../x", /Type \/felis help/],
    ["felis lobby", /in the lobby already/],
    ["felis go lobby", /in the lobby already/],
    ["felis go login", /There is no server login/],
    ["felis go nowhere", /There is no server nowhere/],
    ["felis go ../x", /There is no server \.\.\/x/],
    ["felis claim", /Type \/felis help/],
    ["felis go creative", /You may not start creative/],
    ["link", /Your account is linked/],
    ["felis migrate", /Go on in the panel/],
    ["invite", /Type \/invite/],
    ["invite bob", /not from here/],
    ["invite accept 0123", /invitation has expired/],
  ];
  for (const [command, words] of rows) assert.match(await says(command), words, command);

  fixture.service.linked.delete(account.uuid);
  assert.match(
    await says("link"),
    /^Your code is ABCD2345\. Enter it at https:\/\/console\.play\.example before /,
  );
  refuses("identity.account-migration.start", "not_linked");
  refuses("identity.link.mint-code", "unavailable");
  assert.match(await says("link"), /service is not responding/);
});

test("an operator login is shown first and approved with the account's name only", limit, async () => {
  const { fixture, account, says, refuses } = await startWithPlayer("play.example");
  await using _ = fixture;
  assert.match(await says("felis web op approve req1"), /^Refused: /);
  fixture.service.answers.set("identity.op-login.read", ({ id, approver_uuid: approver }) => {
    assert.deepEqual([id, approver], ["req1", account.uuid]);
    const times = { created_at: "2026-01-01T00:00:00.000Z", expires_at: "2026-01-01T00:10:00.000Z" };
    const who = {
      username: "admin",
      email: "a@example.com",
      client_ip: "203.0.113.9",
      user_agent: "A §4Browser",
    };
    return { status: 200, body: { request_id: "req1", ...who, ...times } };
  });
  const card = await says("felis web op approve req1");
  assert.match(card, /^admin \(a@example\.com\) asks to sign in from 203\.0\.113\.9, A Browser\./);
  assert.match(card, /\/felis web op approve req1 admin$/);
  refuses("identity.op-login.approve", "op_login_mismatch");
  assert.match(await says("felis web op approve req1 wrong"), /^Refused: /);
  fixture.service.answers.set("identity.op-login.approve", ({ username, approver_uuid: approver }) => {
    assert.deepEqual([username, approver], ["admin", account.uuid]);
    return { status: 200, body: { approved: true, username: "admin", email: "a@example.com" } };
  });
  assert.equal(await says("felis web op approve req1 admin"), "Approved the sign-in of admin.");
});

const claims: [FaultName, RegExp][] = [
  ["not_linked", /not linked yet/],
  ["quota_exceeded", /quota is used up/],
  ["already_claimed", /survival has an owner already/],
  ["server_retiring", /is being retired/],
  ["world_reclaiming", /is being archived/],
  ["unavailable", /service is not responding/],
];
test("a claim is for the server the player is on, and its refusal is told", limit, async () => {
  const { fixture, account, alice, says } = await startWithPlayer("survival.play.example");
  await using _ = fixture;
  for (const [name, words] of claims) {
    fixture.service.claim = () => refusal(name);
    assert.match(await says("felis claim"), words, name);
  }
  fixture.service.claim = (name, uuid) => {
    assert.deepEqual([name, uuid], ["survival", account.uuid]);
    return { status: 200, body: { name, claimed: true } };
  };
  assert.equal(await says("felis claim"), "survival is yours now.");
  alice.command("felis lobby");
  await fixture.lobby.player("alice");
});

test("commands of the server the player is on go to it", limit, async () => {
  const { fixture, alice } = await startWithPlayer("play.example");
  await using _ = fixture;
  alice.command("felisity");
  alice.command("menu");
  await fixture.lobby.until(() => fixture.lobby.commands.length === 2);
  assert.deepEqual(fixture.lobby.commands, ["felisity", "menu"]);
});

test("a refused claim wakes nothing, and a successful one wakes the server", limit, async () => {
  const { fixture } = await startWithPlayer("play.example");
  await using _ = fixture;
  fixture.service.servers.set("creative", serverInfo("creative"));
  const ask = async () => {
    const { length } = fixture.lobby.frames;
    fixture.lobby.send("alice", { type: "ClaimRequest", player: null, server: "creative" });
    await fixture.lobby.until(() => fixture.lobby.frames.length > length);
    return fixture.lobby.frames[length];
  };
  for (const name of ["quota_exceeded", "already_claimed", "not_linked"] as const) {
    fixture.service.claim = () => refusal(name);
    const frame = await ask();
    assert(frame?.type === "Error" && frame.code === name && frame.server === "creative");
  }
  fixture.service.claim = () => refusal("unavailable");
  const down = await ask();
  assert(down?.type === "Error" && down.code === "unavailable");
  assert.match(down.message ?? "", /service is not responding/);
  assert(!fixture.service.calls.some((call) => call.includes("/wake")));
  fixture.service.claim = (name) => ({ status: 200, body: { name, claimed: true } });
  fixture.service.wake = () => refusal("at_capacity");
  const full = await ask();
  assert(full?.type === "Error" && full.code === "at_capacity");
  const acts = fixture.service.calls.filter((call) => /claim|wake/.test(call)).slice(-2);
  assert.deepEqual(
    acts.map((call) => call.split("/").at(-1)?.split(" ")[0]),
    ["claim", "wake"],
  );
});
