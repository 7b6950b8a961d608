// Ways that two people go together, or that lead over several pages: an operator's sign-in that staff approve in the game, a
// player who is linked, servers that go to another account, and what a backup is good for.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { newestCode } from "../flow/stack.ts";
import { type Area, codeOf, type Fixture, playerAt } from "./fixture.ts";
import { pressWithControl } from "./keyboard.ts";
import { createPerson, type Person, textOfEditor, writeFile } from "./person.ts";

const { account, backups, files, server, setup, shell, signIn } = en;

const moreOfBackup = 'button[aria-label^="More for the backup"]';

async function query({ stack }: Fixture, text: string, values: unknown[]): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

async function leave(person: Person): Promise<void> {
  assert.deepEqual(person.faults(), []);
  await person.leave();
}

/** A server that somebody owns, asleep, with the world of its first start. */
async function giveServer({ owner }: Fixture, to: Person, name: string): Promise<void> {
  const asked = { name, subdomain: name, autostartPolicy: "ownerOnly" };
  assert.equal((await owner.request("POST", "/servers", asked)).status, 201);
  await until(async () => (await to.request("POST", `/servers/${name}/claim`)).status === 200);
  await startOnce(to, name);
}

async function startOnce(person: Person, name: string): Promise<void> {
  for (const [act, phase] of [
    ["wake", "Running"],
    ["stop", "Stopped"],
  ] as const) {
    // A wake soon after another one is refused for half a minute.
    const isTaken = async () => (await person.request("POST", `/servers/${name}/${act}`)).status < 300;
    await until(isTaken, 60_000, act);
    const isThere = async () =>
      (await person.request("GET", `/servers/${name}/status`)).body["phase"] === phase;
    await until(isThere, 60_000, phase);
  }
}

/** Types at the start or the end of a text in the editor. */
async function typeAt(person: Person, editor: string, key: "Home" | "End", text: string): Promise<void> {
  await person.press("textbox", editor);
  await pressWithControl(person, key);
  await person.page.keyboard.sendCharacter(text);
}

export const addJourneyTests: Area = (fixture) => {
  test("an operator signs in with a mailed code that staff approved in the game", async () => {
    const { stack, browser, owner, addressOf, inspect } = fixture();
    const [username, email, mc_uuid] = ["anna", "anna@example.net", randomUUID()];
    const made = await owner.request("POST", "/users", { username, email, role: "admin" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const id = String(made.body["id"]);
    const linked = await owner.request("POST", `/users/${id}/links`, { mc_uuid });
    assert.ok(linked.status < 300, JSON.stringify(linked.body));
    await query(fixture(), "update identity.users set email_verified = true where id = $1", [id]);
    const anna = await createPerson(browser);
    await anna.open(addressOf("admin_host", "/login"));
    await anna.fill(signIn.email, email);
    const before = newestCode(stack.file().mail.dir);
    await anna.page.keyboard.press("Enter");
    await anna.sees(signIn.operatorWaiting);
    await inspect(anna, "login-operator-waiting");
    const command = await anna.page.$eval("main code", (code) => code.textContent ?? "");
    const [, request = ""] = /approve (\S+) NAME$/.exec(command) ?? [];
    const approving = `/api/v1/internal/op-login/${request}/approve`;
    const approved = await stack.internal("POST", approving, { approver_uuid: mc_uuid, username });
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    await anna.sees(signIn.operatorApproved);
    const mailed = await until(() => {
      const newest = newestCode(stack.file().mail.dir);
      return newest === before ? undefined : newest;
    }, 20_000);
    await anna.fill(signIn.code, mailed);
    await anna.page.keyboard.press("Enter");
    await anna.isAt("/");
    assert.equal((await anna.request("GET", "/me")).body["is_admin"], true);
    await leave(anna);
  });

  test("a second player is linked with the code of the login gate, and unlinked again", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const person = await playerAt(fixture(), "/account", first);
    await person.press("button", account.linkAnother);
    await person.fill(signIn.gameCode, await codeOf(fixture(), second));
    await person.page.keyboard.press("Enter");
    await person.sees(setup.linked);
    await person.sees(second);
    await person.press("button", account.unlinkOf(isolate(second)));
    await person.sees(account.unlinkHelp);
    await person.press("button", account.unlinkAction);
    await person.seesNo(second);
    await leave(person);
  });

  test("all servers of an account go to another one, by a command in the game, a passkey and a code", async () => {
    const { stack, owner, inspect } = fixture();
    const uuid = randomUUID();
    const giver = await playerAt(fixture(), "/account", uuid);
    const receiver = await playerAt(fixture(), "/account");
    const asked = { name: "given-away", subdomain: "given-away", autostartPolicy: "ownerOnly" };
    assert.equal((await owner.request("POST", "/servers", asked)).status, 201);
    await until(async () => (await giver.request("POST", "/servers/given-away/claim")).status === 200);
    await giver.press("button", account.anotherPasskey);
    await giver.press("button", setup.passkeyAdd);
    await giver.sees(account.passkeyUnused);
    const begun = await stack.internal("POST", "/api/v1/internal/account/migrate/start", { mc_uuid: uuid });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    await giver.seesOnReturn(account.giveConfirm);
    await inspect(giver, "account-transfer-confirm");
    await giver.press("button", account.givePasskey);
    await giver.fill(account.giveTarget, String((await receiver.request("GET", "/me")).body["user_id"]));
    await giver.press("button", account.giveIssue);
    await giver.sees(account.giveIssued);
    await inspect(giver, "account-transfer-code");
    const codes = await giver.page.$$eval("main code", (all) =>
      all.map(({ textContent }) => textContent ?? ""),
    );
    const code = codes.find((text) => /^[A-Z0-9]{8}$/.test(text)) ?? "";
    await receiver.fill(account.takeCode, code);
    await receiver.press("button", account.takeAction);
    await receiver.sees(account.taken(1));
    await receiver.press("link", shell.servers);
    await receiver.sees("given-away");
    await leave(receiver);
    await giver.leave();
  });

  test("three files of a backup are put back, and the rest of the world stays", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/backups"));
    const paths = ["note-1.txt", "note-2.txt", "note-3.txt", "kept.txt"];
    const restored = paths.slice(0, 3);
    const writeAll = async (text: string) => {
      for (const path of paths)
        await until(
          // What the backup did before it said so holds the world for a moment longer.
          async () => (await writeFile(owner, { server: "survival", path }, text)).status === 200,
          20_000,
          `${path} to be written`,
        );
    };
    await writeAll("as it was");
    const newest = async () => {
      const { body } = await owner.request("GET", "/backups?server=survival&limit=1");
      return (body["backups"] as { id: string }[])[0]?.id;
    };
    const before = await newest();
    await owner.press("button", backups.make);
    // What the page says of the newest Job is about an earlier one until it has read of this one, and so are its rows.
    await until(async () => (await newest()) !== before, 30_000, "the backup");
    await owner.open(addressOf("admin_host", "/servers/survival/backups"));
    await owner.sees(backups.jobsDone.backup);
    await writeAll("changed since");
    await owner.page.locator(moreOfBackup).click();
    await owner.page.locator(`::-p-aria([name=${JSON.stringify(backups.files)}][role="menuitem"])`).click();
    for (const path of restored) await owner.press("checkbox", path);
    await owner.press("button", backups.restoreFilesAction(3));
    await owner.sees(backups.restoreFilesHelp(3));
    await inspect(owner, "backups-restore-three");
    await owner.page.locator('input[name="confirm"]').fill("survival");
    await owner.press("button", backups.restoreFilesAction(3));
    await owner.sees(backups.jobsDone.restore);
    for (const path of paths) {
      const { body } = await owner.request("GET", `/servers/survival/file?path=${path}`);
      const text = Buffer.from(String(body["content"]), "base64").toString();
      assert.equal(text, restored.includes(path) ? "as it was" : "changed since", path);
    }
  });

  test("a file that two people edit keeps what both of them changed", async () => {
    const { owner, addressOf, inspect } = fixture();
    const [name, path] = ["edited", "spigot.yml"];
    const alice = await playerAt(fixture(), "/");
    await giveServer(fixture(), alice, name);
    const lines = ["message: before", "slots: 20", "pvp: true", "difficulty: easy", "view-distance: 10"];
    const written = await writeFile(alice, { server: name, path }, `${lines.join("\n")}\n`);
    assert.equal(written.status, 200, JSON.stringify(written.body));
    const editor = files.content(isolate(path));
    const open = async (person: Person, host: "panel_host" | "admin_host") => {
      await person.page.bringToFront();
      await person.open(addressOf(host, `/servers/${name}/files?open=${path}`));
      await person.sees(files.save);
    };
    const save = async (person: Person) => {
      await person.page.bringToFront();
      await person.press("button", files.save);
    };
    await open(alice, "panel_host");
    await open(owner, "admin_host");
    await typeAt(owner, editor, "Home", "# staff were here\n");
    await save(owner);
    await owner.sees(files.saved(isolate(path)));
    await alice.page.bringToFront();
    await typeAt(alice, editor, "End", "hardcore: true\n");
    await save(alice);
    await alice.sees(files.conflictOtherLines);
    await inspect(alice, "files-conflict-other-lines");
    await alice.press("button", files.putTogether);
    await alice.seesNo(files.conflict);
    await save(alice);
    await alice.sees(files.saved(isolate(path)));
    const { body } = await alice.request("GET", `/servers/${name}/file?path=${path}`);
    const stored = Buffer.from(String(body["content"]), "base64").toString();
    for (const line of ["# staff were here", ...lines, "hardcore: true"])
      assert.ok(stored.includes(line), stored);
    // Now both change the same line.
    await open(alice, "panel_host");
    await open(owner, "admin_host");
    await typeAt(owner, editor, "Home", "# theirs ");
    await save(owner);
    await owner.sees(files.saved(isolate(path)));
    await alice.page.bringToFront();
    await typeAt(alice, editor, "Home", "# mine ");
    await save(alice);
    await alice.sees(files.conflictSameLines);
    await inspect(alice, "files-conflict-same-lines");
    await alice.press("button", files.takeTheirs);
    await alice.sees(files.tookTheirs);
    assert.match(await textOfEditor(alice, editor), /# theirs/);
    await alice.press("button", files.bringMineBack);
    assert.match(await textOfEditor(alice, editor), /# mine/);
    await save(alice);
    await alice.sees(files.saved(isolate(path)));
    await leave(alice);
  });

  test("a world is downloaded: the browser saves an archive that holds its files", async () => {
    const { owner, addressOf } = fixture();
    const folder = mkdtempSync(join(tmpdir(), "svc-download-"));
    const session = await owner.page.browser().target().createCDPSession();
    const { id } = owner.page.browserContext();
    const into = {
      behavior: "allow",
      downloadPath: folder,
      ...(id !== undefined && { browserContextId: id }),
    };
    await session.send("Browser.setDownloadBehavior", { ...into, behavior: "allow" });
    try {
      await owner.open(addressOf("admin_host", "/servers/survival/backups"));
      await owner.press("button", backups.downloadWorld);
      const isSaved = (file: string) => !file.endsWith(".crdownload") && !file.startsWith(".");
      const saved = await until(() => readdirSync(folder).find(isSaved), 60_000, "the download");
      assert.match(saved, /survival/);
      const listed = execFileSync("tar", ["-tf", join(folder, saved)], { encoding: "utf8" });
      assert.match(listed, /server\.properties/);
      await owner.seesNo(backups.jobs.export_world);
    } finally {
      await session.send("Browser.setDownloadBehavior", { ...into, behavior: "default" });
      rmSync(folder, { recursive: true, force: true });
    }
  });

  if (!isWhole) return;

  test("a backup is tried out, and says that a copy started", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/backups"));
    await owner.page.locator(moreOfBackup).click();
    await owner.page.locator(`::-p-aria([name=${JSON.stringify(backups.drill)}][role="menuitem"])`).click();
    await owner.sees(backups.drillStarted);
    await until(
      () =>
        owner.page.evaluate(
          (word: string) => document.body.textContent?.includes(word) === true,
          backups.drillStates.passed,
        ),
      180_000,
      backups.drillStates.passed,
    );
    await inspect(owner, "backups-tried");
    assert.equal((await owner.request("GET", "/servers/survival/status")).body["phase"], "Stopped");
    await owner.sees(server.phases.Stopped);
  });
};
