// Invitations by mail and by the name in the game, limits by path, the ways out, and all of it without a mouse.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { zh } from "../../services/panel/src/words/zh/index.ts";
import { newestCode } from "../flow/stack.ts";
import { type Fixture, playerAt } from "./fixture.ts";
import { pressKey, tabTo } from "./keyboard.ts";
import type { Person } from "./person.ts";

const { sharing, signIn, server } = en;
const dora = "dora@example.net";

/** A player who joined under a name, as the proxy tells lifecycle. */
async function joined({ stack }: Fixture, mc_uuid: string, name: string): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  const text = "insert into lifecycle.player_names (mc_uuid, name, seen_at) values ($1, $2, now())";
  await client.query(text, [mc_uuid, name]).finally(() => client.end());
}

/** Has verified an address with the code that was mailed there. */
async function verify({ stack }: Fixture, person: Person, email: string): Promise<void> {
  const { dir } = stack.file().mail;
  const before = newestCode(dir);
  assert.equal((await person.request("POST", "/account/email/start", { email })).status, 202);
  const code = await until(() => {
    const newest = newestCode(dir);
    return newest === before ? undefined : newest;
  }, 15_000);
  assert.equal((await person.request("POST", "/account/email/verify", { code })).status, 200);
}

const speakChinese = ({ page }: Person) => page.evaluate(() => localStorage.setItem("svc.language", "zh-CN"));

/** `alice` owns the server `name`, which has a world and is or becomes stopped; her page of access is open. */
export function addInvitedTests(fixture: () => Fixture, name: string, owner: () => Person): void {
  const page = `/servers/${name}/access`;
  const invite = async (way: "mail" | "player", field: string, to: string) => {
    const alice = owner();
    await alice.press("button", sharing.invite);
    await alice.press("radio", sharing.ways[way]);
    await alice.fill(field, to);
    await alice.press("button", sharing.inviteActions[way]);
  };

  test("somebody who is invited by mail finds it in the panel, in Chinese, and accepts", async () => {
    const { addressOf, inspect } = fixture();
    const alice = owner();
    await alice.open(addressOf("panel_host", page));
    await invite("mail", signIn.email, "nobody");
    await alice.sees(en.faults.bad_request);
    await alice.fill(signIn.email, dora);
    await alice.press("button", sharing.inviteActions.mail);
    await alice.sees(sharing.invited(isolate(dora)));
    await alice.sees(sharing.kinds.mail);
    const person = await playerAt(fixture(), "/");
    await verify(fixture(), person, dora);
    await speakChinese(person);
    await person.open(addressOf("panel_host", "/"));
    await person.press("link", zh.sharing.toInvitation);
    await person.isAt("/invitations");
    await person.sees(zh.sharing.addressed);
    await inspect(person, "zh-invitation");
    await person.press("button", zh.sharing.acceptOf(isolate(name)));
    await person.isAt(`/servers/${name}`);
    await person.sees(zh.sharing.sharedWithYou);
    await person.open(addressOf("panel_host", page));
    await person.sees(zh.sharing.yours);
    await inspect(person, "zh-access-of-helper");
    await person.press("button", zh.sharing.leave);
    await person.sees(zh.sharing.leaveHelp);
    await person.press("button", zh.sharing.leave);
    await person.isAt("/servers");
    await person.sees(zh.sharing.left(isolate(name)));
    assert.equal((await person.request("GET", `/servers/${name}/jobs`)).status, 403);
    assert.deepEqual(person.faults(), []);
    await person.leave();
  });

  test("a player is invited by the name in the game and declines, and nobody can accept it any more", async () => {
    const { addressOf } = fixture();
    const alice = owner();
    await alice.open(addressOf("panel_host", page));
    await invite("player", sharing.player, "Nobody_Came");
    await alice.sees(en.faults.player_unknown);
    const uuid = randomUUID();
    await joined(fixture(), uuid, "Declining");
    await alice.fill(sharing.player, "declining");
    await alice.press("button", sharing.inviteActions.player);
    await alice.sees(sharing.kinds.player);
    const person = await playerAt(fixture(), "/invitations", uuid);
    await person.press("button", sharing.declineOf(isolate(name)));
    await person.sees(sharing.declined(isolate(name)));
    await person.open(addressOf("panel_host", "/invitations"));
    await person.sees(sharing.noInvitation);
    await alice.open(addressOf("panel_host", page));
    await alice.sees(sharing.noMembers);
    await alice.seesNo(sharing.kinds.player);
    assert.deepEqual(person.faults(), []);
    await person.leave();
  });

  test("who may read some files alone gets these, also from backups, and nothing else", async () => {
    const { addressOf, inspect } = fixture();
    const alice = owner();
    await until(
      async () => (await alice.request("GET", `/servers/${name}/status`)).body["phase"] === "Stopped",
      60_000,
    );
    const limits = { read_paths: ["server.properties", "world"] };
    const rights = ["files.read", "backups.download", "backups.restore"];
    const made = await alice.request("POST", `/servers/${name}/invitations`, { rights, limits });
    const person = await playerAt(fixture(), `/`);
    const accepted = await person.request("POST", "/me/invitations/accept", { secret: made.body["secret"] });
    assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
    await person.open(addressOf("panel_host", `/servers/${name}/files`));
    await person.sees(sharing.onlyPaths);
    await inspect(person, "files-some");
    await person.press("link", "server.properties");
    await person.sees("motd");
    const files = `/servers/${name}/files`;
    assert.equal((await person.request("GET", `${files}?path=world`)).status, 200);
    for (const [method, path] of [
      ["GET", files],
      ["GET", `${files}?path=plugins`],
      ["GET", `/servers/${name}/file?path=eula.txt`],
      ["POST", `/servers/${name}/world/export`],
    ] as const) {
      const { status, body } = await person.request(method, path);
      assert.deepEqual(
        [status, body["code"] ?? body["error"]],
        [403, "path_not_shared"],
        `${method} ${path}`,
      );
    }
    await person.open(addressOf("panel_host", `/servers/${name}/backups`));
    await person.sees(en.backups.somePaths);
    assert.equal(await person.page.$(`button ::-p-text(${en.backups.downloadWorld})`), null);
    await inspect(person, "backups-some");
    assert.deepEqual(person.faults(), []);
    await person.leave();
  });

  test("invitations are made and accepted with the keyboard alone", async () => {
    const { addressOf } = fixture();
    const alice = owner();
    await alice.open(addressOf("panel_host", page));
    await tabTo(alice, "button", sharing.invite);
    await pressKey(alice, "Enter");
    await alice.sees(sharing.preset);
    await tabTo(alice, "button", sharing.inviteActions.link);
    await pressKey(alice, "Enter");
    await alice.sees(sharing.linkHelp);
    const link = await alice.page.$eval("[role=alertdialog] code", (code) => code.textContent ?? "");
    await tabTo(alice, "button", sharing.linkDone);
    await pressKey(alice, "Enter");
    await alice.sees(sharing.aLink);
    const person = await playerAt(fixture(), "/");
    await person.page.goto("about:blank");
    await person.open(link);
    await person.sees(sharing.rightWords.command);
    await tabTo(person, "button", sharing.acceptOf(isolate(name)));
    await pressKey(person, "Enter");
    await person.isAt(`/servers/${name}`);
    await person.sees(server.overview);
    assert.deepEqual(person.faults(), []);
    await person.leave();
  });
}
