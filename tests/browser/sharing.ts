// A server that its owner shares: the invitation by a link, what the invited person may do, and the end of it.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { type Area, codeOf, playerAt } from "./fixture.ts";
import { createPerson, type Person, textOfEditor, writeFile } from "./person.ts";

const { dashboard, server, serverConsole, sharing, signIn } = en;
const name = "shared-one";

const tabsOf = ({ page }: Person) =>
  page.$$eval(`nav[aria-label="${server.pages}"] a`, (links) => links.map(({ textContent }) => textContent));

export const addSharingTests: Area = (fixture) => {
  let alice: Person;
  let bob: Person;
  let link = "";

  test("the owner of a server invites a helper by a link, which is shown once", async () => {
    const { owner, addressOf, inspect } = fixture();
    const made = await owner.request("POST", "/servers", { name, subdomain: name });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    alice = await playerAt(fixture(), `/servers/${name}`);
    await alice.press("button", `${server.claim} ${name}`);
    await alice.sees(sharing.title);
    await alice.press("link", sharing.title);
    await alice.isAt(`/servers/${name}/access`);
    await alice.sees(sharing.noMembers);
    await inspect(alice, "access-empty");
    await alice.press("button", sharing.invite);
    await alice.sees(sharing.preset);
    await inspect(alice, "access-invite");
    await alice.press("button", sharing.inviteActions.link);
    await alice.sees(sharing.linkHelp);
    await inspect(alice, "access-link");
    link = await alice.page.$eval("[role=alertdialog] code", (code) => code.textContent ?? "");
    assert.equal(link.split("#")[0], addressOf("panel_host", "/invitations"));
    await alice.press("button", sharing.linkDone);
    await alice.sees(sharing.aLink);
    assert.ok(!(await alice.page.content()).includes(link.split("#")[1] ?? ""), "the secret is gone");
    await inspect(alice, "access-invited");
  });

  test("who opens the link signs in first, comes back to it, and accepts", async () => {
    const { browser, inspect } = fixture();
    bob = await createPerson(browser);
    await bob.open(link);
    await bob.sees(sharing.signInFirst);
    assert.equal(new URL(bob.page.url()).hash, "", "the secret left the address");
    await inspect(bob, "invitation-signed-out");
    await bob.press("link", sharing.signIn);
    await bob.press("button", signIn.game);
    await bob.fill(signIn.gameCode, await codeOf(fixture(), randomUUID()));
    await bob.page.keyboard.press("Enter");
    await bob.isAt("/invitations");
    await bob.sees(sharing.rightWords.command);
    await inspect(bob, "invitation");
    await bob.press("button", sharing.acceptOf(isolate(name)));
    await bob.isAt(`/servers/${name}`);
    await bob.sees(sharing.sharedWithYou);
    await inspect(bob, "server-shared");
    const late = await playerAt(fixture(), "/");
    await late.page.goto("about:blank");
    await late.open(link);
    await late.sees(en.faults.invitation_over);
    await inspect(late, "invitation-over");
    assert.deepEqual(late.faults(), []);
    await late.leave();
  });

  test("a helper sees and does exactly what was shared", async () => {
    const { owner, addressOf, inspect } = fixture();
    assert.deepEqual(await tabsOf(bob), [
      server.overview,
      en.players.title,
      en.backups.title,
      en.luckPerms.title,
      en.history.title,
      en.activity.title,
      sharing.title,
    ]);
    assert.equal((await bob.request("POST", `/servers/${name}/wake`)).status, 403);
    assert.equal(await bob.page.$(`button[aria-label^="${server.wake}"]`), null);
    assert.equal((await owner.request("POST", `/servers/${name}/wake`)).status, 202);
    await bob.sees(server.phases.Running);
    await bob.sees(/\[.*INFO/);
    await bob.fill(serverConsole.command, "say hello from a helper");
    await bob.page.keyboard.press("Enter");
    await bob.sees("hello from a helper");
    await bob.fill(serverConsole.command, "op bob");
    await bob.page.keyboard.press("Enter");
    await bob.sees(en.faults.forbidden);
    await bob.open(addressOf("panel_host", `/servers/${name}/files`));
    await bob.sees(sharing.notIncluded(sharing.rightWords["files.read"]));
    await inspect(bob, "files-not-shared");
    await bob.open(addressOf("panel_host", `/servers/${name}/backups`));
    await bob.sees(sharing.rightWords["backups.restore"]);
    await inspect(bob, "backups-of-helper");
    await bob.open(addressOf("panel_host", `/servers/${name}/access`));
    await bob.sees(sharing.yours);
    await inspect(bob, "access-of-helper");
    await bob.open(addressOf("panel_host", "/servers"));
    await bob.sees(sharing.sharedWithYou);
    await inspect(bob, "servers-shared");
    await bob.open(addressOf("panel_host", "/"));
    await bob.sees(dashboard.awake);
    await bob.sees(name);
  });

  test("the owner changes what a member may do, and it counts at once", async () => {
    const { inspect, addressOf } = fixture();
    const { body } = await alice.request("GET", `/servers/${name}/members`);
    const [member] = body["members"] as { username: string }[];
    const who = isolate(member?.username ?? "");
    await bob.open(addressOf("panel_host", `/servers/${name}`));
    await alice.sees(member?.username ?? "");
    await inspect(alice, "access-members");
    await alice.press("button", sharing.changeOf(who));
    await alice.press("checkbox", sharing.rightWords.power);
    await inspect(alice, "access-change");
    await alice.press("button", sharing.changeAction);
    await alice.sees(sharing.changed(who));
    await bob.page.bringToFront();
    await bob.seesOnReturn(`${server.stop}`);
    await alice.page.bringToFront();
  });

  test("somebody whose access ends while the console is open is told so", async () => {
    const { inspect } = fixture();
    const { body } = await alice.request("GET", `/servers/${name}/members`);
    const [member] = body["members"] as { username: string }[];
    const who = isolate(member?.username ?? "");
    await alice.press("button", sharing.removeOf(who));
    await alice.sees(sharing.removeHelp);
    await inspect(alice, "access-remove");
    await alice.press("button", sharing.removeAction);
    await alice.sees(sharing.removed(who));
    await bob.page.bringToFront();
    await bob.sees(sharing.ended(isolate(name)));
    await inspect(bob, "access-ended");
    assert.equal((await bob.request("GET", `/servers/${name}/jobs`)).status, 403);
    await until(async () => (await alice.request("POST", `/servers/${name}/stop`)).status === 202);
    assert.deepEqual([...alice.faults(), ...bob.faults()], []);
    await bob.leave();
  });

  test("what staff do with a world is said to its owner as the work of somebody else, and holds it", async () => {
    const { owner, addressOf, inspect } = fixture();
    const phase = async () => (await alice.request("GET", `/servers/${name}/status`)).body["phase"];
    await until(async () => (await phase()) === "Stopped", 60_000, "the server to stop");
    await alice.open(addressOf("panel_host", `/servers/${name}`));
    const begun = await owner.request("POST", `/servers/${name}/world/export`);
    assert.equal(begun.status, 202, JSON.stringify(begun.body));
    await alice.sees(server.workBy.other);
    await alice.sees(en.backups.jobs.export_world);
    assert.equal((await alice.request("POST", `/servers/${name}/backup`)).status, 409);
    await inspect(alice, "world-held-by-another");
    const path = `/exports/${String(begun.body["ticket"])}`;
    const isReady = async () => (await owner.request("GET", path)).body["state"] === "ready";
    await until(isReady, 30_000, "the download");
    await owner.page.evaluate(async (address) => {
      await (await fetch(`/api/v1${address}/download`)).arrayBuffer();
    }, path);
    await alice.seesNo(server.workBy.other);
  });

  test("a member whose access covers one folder opens and saves a file in it, and nothing beside it", async () => {
    const { inspect, addressOf } = fixture();
    const at = (path: string) => ({ server: name, path });
    for (const path of ["plugins", "plugins/Essentials"])
      await alice.request("POST", `/servers/${name}/files/mkdir?path=${encodeURIComponent(path)}`, {});
    for (const [path, text] of [
      ["plugins/Essentials/config.yml", "motd: welcome\n"],
      ["plugins/secret.yml", "password: 1\n"],
    ] as const)
      assert.equal((await writeFile(alice, at(path), text)).status, 200);
    await alice.open(addressOf("panel_host", `/servers/${name}/access`));
    await alice.press("button", sharing.invite);
    await alice.press("radio", sharing.presets.own);
    for (const right of ["files.read", "files.write"] as const)
      await alice.press("checkbox", sharing.rightWords[right]);
    for (const limit of ["read_paths", "write_paths"] as const)
      await alice.fill(sharing.limitFields[limit], "plugins/Essentials");
    await inspect(alice, "access-invite-paths");
    await alice.press("button", sharing.inviteActions.link);
    await alice.sees(sharing.linkHelp);
    const offered = await alice.page.$eval("[role=alertdialog] code", (code) => code.textContent ?? "");
    await alice.press("button", sharing.linkDone);

    const carol = await playerAt(fixture(), "/");
    await carol.page.goto("about:blank");
    await carol.open(offered);
    await carol.sees("plugins/Essentials");
    await carol.press("button", sharing.acceptOf(isolate(name)));
    await carol.isAt(`/servers/${name}`);
    await carol.press("link", en.files.title);
    await carol.sees(sharing.onlyPaths);
    await inspect(carol, "files-paths");
    await carol.press("link", "plugins/Essentials");
    await carol.press("link", "config.yml");
    const editor = en.files.content(isolate("config.yml"));
    assert.match(await textOfEditor(carol, editor), /motd: welcome/);
    await inspect(carol, "files-paths-editor");
    await carol.press("textbox", editor);
    await carol.page.keyboard.type("list: true\n");
    await carol.press("button", en.files.save);
    await carol.sees(en.files.saved(isolate("config.yml")));
    for (const search of ["?open=plugins/secret.yml", "?open=server.properties"]) {
      await carol.open(addressOf("panel_host", `/servers/${name}/files${search}`));
      await carol.sees(en.faults.path_not_shared);
    }
    await inspect(carol, "files-path-not-shared");
    await carol.open(addressOf("panel_host", `/servers/${name}/files?path=plugins`));
    await carol.sees(sharing.onlyPaths);
    assert.equal((await writeFile(carol, at("plugins/secret.yml"), "mine: 1\n")).status, 403);
    assert.deepEqual([...alice.faults(), ...carol.faults()], []);
    await alice.leave();
    await carol.leave();
  });

  test("who has no invitation is told what to do", async () => {
    const { player, addressOf, inspect } = fixture();
    await player.open(addressOf("panel_host", "/invitations"));
    await player.sees(sharing.noInvitation);
    await inspect(player, "invitation-none");
  });
};
