// What a page offers where somebody would be stuck without it: a claim on the page of a free server, a stop of a start that
// failed, a start after a backup, a download that did not begin, a password where nothing else works.

import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeOnly } from "@svc/config/testing";
import { connectKube, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { MinecraftServer } from "@svc/proto";
import pg from "pg";
import { hashPassword } from "../../services/identity/src/sign-in/password-hash.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { password as passwordWords } from "../../services/panel/src/words/en/password.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { behindEdge, type Passing, startEdge } from "./edge.ts";
import { type Area, type Fixture, playerAt } from "./fixture.ts";
import { pressByKeys } from "./keyboard.ts";
import { createPerson, type Person } from "./person.ts";

const { backups, dashboard, downloads, files, players, server, signIn } = en;

const phaseOf = async ({ owner }: Fixture, name: string) =>
  (await owner.request("GET", `/servers/${name}/status`)).body["phase"];

async function create({ owner }: Fixture, name: string): Promise<void> {
  const made = await owner.request("POST", "/servers", { name, subdomain: name });
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

/** Behind the API, which takes only images that exist. */
async function patchSpec({ stack }: Fixture, name: string, spec: object): Promise<void> {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const { group, version, plural, kind } = MinecraftServer;
  const servers = resource<never>({ group, version, plural, kind, namespaced: true });
  await kube.patch(servers, { name, namespace: "minecraft" }, { merge: { spec } }).finally(kube.close);
}

async function query({ stack }: Fixture, text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

export const addNextStepTests: Area = (fixture) => {
  test("a player claims a free server on its own page, and one that has an owner offers nothing", async () => {
    const { player, addressOf, inspect } = fixture();
    await create(fixture(), "free-one");
    await player.open(addressOf("panel_host", "/servers/free-one"));
    await player.sees(server.address);
    await inspect(player, "server-free");
    await pressByKeys(player, "button", `${server.claim} free-one`);
    await player.sees(server.claimed(isolate("free-one")));
    await player.sees(server.settings);
    assert.equal((await player.request("GET", "/servers/free-one/jobs")).status, 200);
    const other = await playerAt(fixture(), "/servers/free-one");
    await other.sees(server.address);
    await other.page.waitForNetworkIdle({ idleTime: 300, concurrency: 2 });
    assert.equal(await other.page.$(`button[aria-label="${server.claim} free-one"]`), null);
    await leave(other);
  });

  test("a damaged backup and a task that was missed stand on the overview of their owner", async () => {
    const { player, addressOf, inspect } = fixture();
    const task = { action: "backup", timezone: "UTC", minute_of_day: 180, weekdays: 127, label: "nightly" };
    assert.equal((await player.request("POST", "/servers/free-one/schedules", task)).status, 201);
    await query(
      fixture(),
      "update lifecycle.server_schedules set last_result = 'missed', last_run_at = now() where label = 'nightly'",
    );
    const { user_id: userId } = (await player.request("GET", "/me")).body;
    await query(
      fixture(),
      `insert into storage.world_backups
         (id, server_name, former_owner, backup_ref, size_bytes, reason, expires_at, sha256, verified_at, corrupt_at)
       values ('bk-damaged', 'free-one', $1, 'damaged/1', 1000, 'manual', now() + interval '90 days', repeat('0', 64),
         now(), now())`,
      [userId],
    );
    await player.open(addressOf("panel_host", "/"));
    await player.sees(dashboard.corrupt(isolate("free-one"), 1));
    await player.sees(dashboard.missed(isolate("free-one"), isolate("nightly")));
    await inspect(player, "dashboard-troubles");
    await query(fixture(), "delete from storage.world_backups where id = 'bk-damaged'");
  });

  test("a start that failed is read in the console and stopped, and its files can be mended", async () => {
    const { owner, addressOf, inspect } = fixture();
    const name = "broken-start";
    await create(fixture(), name);
    await until(async () => (await phaseOf(fixture(), name)) === "Stopped");
    await patchSpec(fixture(), name, { image: "svc.local/nothing:1", startup: { timeoutSeconds: 1 } });
    assert.equal((await owner.request("POST", `/servers/${name}/wake`)).status, 202);
    await owner.open(addressOf("admin_host", `/servers/${name}`));
    await owner.sees(server.phases.Failed);
    await owner.page.waitForSelector("[role=log]");
    await inspect(owner, "server-failed");
    await owner.open(addressOf("admin_host", `/servers/${name}/files`));
    await owner.sees(files.awakeNext);
    await inspect(owner, "files-of-failed");
    await owner.page.locator(`main ::-p-aria([name="${server.stop} ${name}"][role="button"])`).click();
    await owner.sees(files.refresh);
    assert.equal(await phaseOf(fixture(), name), "Stopped");
  });

  // Nobody wakes a server twice within half a minute.
  test("a server that is awake is stopped for a backup and started again", wholeOnly, async () => {
    const { owner, addressOf, inspect } = fixture();
    await until(async () => (await owner.request("POST", "/servers/survival/wake")).status === 202, 60_000);
    await until(async () => (await phaseOf(fixture(), "survival")) === "Running", 60_000);
    await owner.open(addressOf("admin_host", "/servers/survival/backups"));
    await owner.press("button", backups.make);
    await owner.sees(backups.startAgain);
    await inspect(owner, "backups-stop-first");
    await owner.press("button", backups.stopFirst);
    await owner.sees(backups.startsAgain);
    await owner.sees(backups.jobsDone.backup);
    await until(async () => (await phaseOf(fixture(), "survival")) === "Running", 90_000);
    await until(async () => (await owner.request("POST", "/servers/survival/stop")).status === 202);
    await until(async () => (await phaseOf(fixture(), "survival")) === "Stopped", 60_000);
  });

  test("a download that the browser does not begin is begun by hand", async () => {
    const { owner, addressOf, inspect } = fixture();
    const { edge, person, leave: leaveEdge } = await behindEdge(fixture(), owner);
    await person.session.send("Browser.setDownloadBehavior", { behavior: "deny" });
    await person.open(addressOf("admin_host", "/servers/survival/backups"));
    edge.set(({ path }) => (path.endsWith("/download") ? { kind: "cut" } : undefined));
    await person.press("button", backups.downloadWorld);
    await person.sees(downloads.save);
    await inspect(person, "download-waits");
    edge.clear();
    await person.press("button", downloads.save);
    await person.seesNo(downloads.save);
    await person.seesNo(downloads.again);
    await leaveEdge();
  });

  test("a right to wake that was taken can be given back for a moment", async () => {
    const { stack, owner, addressOf } = fixture();
    const mc_uuid = "00000000-0000-4000-8000-00000000abcd";
    const path = "/api/v1/internal/servers/survival/join-event";
    assert.equal((await stack.internal("POST", path, { mc_uuid })).status, 204);
    await owner.open(addressOf("admin_host", "/servers/survival/players"));
    const name = players.mayWakeOf(isolate(mc_uuid));
    await owner.page.locator(`::-p-aria([name=${JSON.stringify(name)}][role="switch"])`).click();
    await owner.sees(players.wakesNot(isolate(mc_uuid)));
    await owner.press("button", players.undo);
    await owner.sees(players.wakes(isolate(mc_uuid)));
    const { body } = await owner.request("GET", "/servers/survival/allowlist");
    const entries = body["entries"] as { mc_uuid: string; can_wake: boolean }[];
    assert.equal(entries.find((entry) => entry.mc_uuid === mc_uuid)?.can_wake, true);
  });

  test("a password is offered where it is taken; a wrong one is no end of a session", async () => {
    const { browser, owner, addressOf, inspect } = fixture();
    const me = (await owner.request("GET", "/me")).body;
    const kept = await hashPassword("correct horse battery");
    await query(fixture(), "update identity.users set password_hash = $1 where id = $2", [
      kept,
      me["user_id"],
    ]);
    const person = await createPerson(browser);
    const ask = async () => {
      await person.open(addressOf("admin_host", "/login"));
      await person.fill(signIn.email, "nobody@example.net");
      await person.page.keyboard.press("Enter");
      await person.sees(signIn.operatorApprove);
    };
    await ask();
    await person.seesNo(passwordWords.offer);
    assert.equal((await owner.request("PUT", "/settings", { local_auth_enabled: true })).status, 200);
    await ask();
    await person.press("button", passwordWords.offer);
    await person.fill(passwordWords.userName, String(me["username"]));
    await person.fill(passwordWords.password, "wrong");
    await person.page.keyboard.press("Enter");
    await person.sees(passwordWords.wrong);
    await inspect(person, "login-password");
    await person.fill(passwordWords.password, "correct horse battery");
    await person.page.keyboard.press("Enter");
    await person.isAt("/");
    await leave(person);
    assert.equal((await owner.request("PUT", "/settings", { local_auth_enabled: false })).status, 200);
  });

  test("a passkey that was cancelled can be tried again", async () => {
    const { owner } = fixture();
    // Whoever has another way in would be asked for a proof.
    const person = await playerAt(fixture(), "/account");
    await person.press("button", en.account.anotherPasskey);
    await person.authenticator.setVerifies(false);
    await person.press("button", en.setup.passkeyAdd);
    await person.sees(signIn.passkeyCancelled);
    await person.authenticator.setVerifies(true);
    await person.press("button", en.setup.passkeyAdd);
    await person.sees(en.account.passkeyUnused);
    await person.press("button", en.shell.signOut);
    await person.isAt("/login");
    await person.authenticator.setVerifies(false);
    await person.press("button", signIn.passkey);
    await person.sees(signIn.passkeyCancelled);
    await person.authenticator.setVerifies(true);
    await person.press("button", signIn.passkey);
    await person.isAt("/");
    await leave(person);
    assert.deepEqual(owner.faults(), []);
  });

  test("each of two devices signs in with its own passkey, and one that has only those of other sites does not", async () => {
    const person = await playerAt(fixture(), "/account");
    const { page, authenticator } = person;
    const add = async (count: number) => {
      await person.press("button", en.account.anotherPasskey);
      await person.press("button", en.setup.passkeyAdd);
      const listed = `ul[aria-label="${en.account.passkeys}"] > li:nth-child(${count})`;
      await page.waitForSelector(listed);
    };
    await add(1);
    await authenticator.replace();
    await add(2);
    await person.press("button", en.shell.signOut);
    await person.isAt("/login");
    await person.press("button", signIn.passkey);
    await person.isAt("/");
    await person.press("button", en.shell.signOut);
    await person.isAt("/login");
    await authenticator.replace("elsewhere.example");
    await person.press("button", signIn.passkey);
    await person.sees(signIn.passkeyCancelled);
    await leave(person);
  });

  test("who comes back after the session has ended signs in beside the page and goes on with what was typed", async () => {
    const { browser, addressOf, signInByGame, inspect } = fixture();
    const person = await createPerson(browser);
    const { page } = person;
    await person.open(addressOf("panel_host", "/login"));
    await signInByGame(person);
    await person.press("link", en.shell.account);
    await person.press("button", en.account.changeEmail);
    await person.fill(signIn.email, "kept@example.net");
    assert.equal((await person.request("POST", "/auth/logout")).status, 200);
    // Nobody was there for a while, and now somebody is.
    await page.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 16 * 60_000;
      window.dispatchEvent(new Event("keydown"));
    });
    await person.sees(en.shell.sessionEnded);
    await inspect(person, "session-ended-away");
    const beside = await person.openTab();
    await beside.open(addressOf("panel_host", "/login"));
    await signInByGame(beside);
    await beside.page.close();
    await page.bringToFront();
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await person.seesNo(en.shell.sessionEnded);
    const typed = await page.$eval("input[name=email]", (field) => (field as HTMLInputElement).value);
    assert.equal(typed, "kept@example.net");
    await leave(person);
  });

  test("a file that is dropped where nothing takes it does not lead away", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/"));
    const isKept = await owner.page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["dropped"], "dropped.txt"));
      const event = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
      return !document.body.dispatchEvent(event);
    });
    assert.ok(isKept, "the browser would have opened the file");
  });

  test("the first field that is wrong has the focus after a form was sent", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/new"));
    await owner.fill(en.create.name, "fine-name");
    await owner.fill(en.create.subdomain, "no");
    await owner.press("button", en.create.submit);
    await owner.sees(en.faults.bad_subdomain);
    await until(() =>
      owner.page.evaluate(() => document.activeElement?.getAttribute("name") === "subdomain"),
    );
  });

  test("words that cannot be fetched at first are fetched again", async () => {
    const { browser, stack, addressOf } = fixture();
    const edge = await startEdge(Number(new URL(stack.file().external_base_url).port));
    const person = await createPerson(browser, edge.proxyServer);
    // As often as one load of the page asks for them.
    const isCut = ({ path }: Passing) => path.startsWith("/assets/first-") && edge.met() < 4;
    edge.set((passing) => (isCut(passing) ? { kind: "cut" } : undefined));
    await person.page.goto(addressOf("panel_host", "/login"));
    await person.sees(signIn.passkey);
    assert.equal(edge.met(), 4, "the words were asked for again");
    await person.leave();
    await edge.close();
  });
};

async function leave(person: Person): Promise<void> {
  assert.deepEqual(person.faults(), []);
  await person.leave();
}
