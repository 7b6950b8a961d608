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
import { createPerson, type Person, writeFile } from "./person.ts";

const { account, backups, server, setup, shell, signIn } = en;

async function query({ stack }: Fixture, text: string, values: unknown[]): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

async function leave(person: Person): Promise<void> {
  assert.deepEqual(person.faults(), []);
  await person.leave();
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
    await owner.page.locator('button[aria-label^="More for the backup"]').click();
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
    await owner.page.locator('button[aria-label^="More for the backup"]').click();
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
