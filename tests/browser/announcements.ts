// Announcements and maintenance in the panel: staff make them, everybody reads them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { announcements as words } from "../../services/panel/src/words/en/announcements.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { type Area, playerAt } from "./fixture.ts";
import { createPerson } from "./person.ts";

const { server, shell } = en;
const name = "maintained-one";
const text = "We move to new disks.";

export const addAnnouncementTests: Area = (fixture) => {
  test("staff plan maintenance, and everybody reads it on every page and at sign-in", async () => {
    const { owner, addressOf, inspect, browser } = fixture();
    const made = await owner.request("POST", "/servers", { name, subdomain: name });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await owner.open(addressOf("admin_host", "/admin/announcements"));
    await owner.sees(words.none);
    await inspect(owner, "announcements-empty");
    await owner.press("button", words.add);
    await owner.press("button", words.save);
    await owner.sees(words.textMissing);
    await owner.sees(words.endMissing);
    await owner.press("radio", words.kinds.maintenance);
    await owner.fill(words.text, text);
    await owner.fill(words.chinese, "我们更换硬盘。");
    const ends = await owner.page.evaluate(() => {
      const at = Date.now() + 3_600_000;
      return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    });
    await owner.pick("announcement-end", ends);
    await owner.press("checkbox", words.public);
    await inspect(owner, "announcements-new");
    await owner.press("button", words.save);
    await owner.sees(words.saved);
    await owner.sees(words.states.current);
    await owner.sees(shell.noWakes);
    await inspect(owner, "announcements");
    const alice = await playerAt(fixture(), "/servers");
    await alice.sees(text);
    await alice.sees(shell.noWakes);
    await alice.leave();
    const stranger = await createPerson(browser);
    await stranger.open(addressOf("panel_host", "/login"));
    await stranger.sees(text);
    await inspect(stranger, "announcements-sign-in");
    await stranger.leave();
  });

  test("a wake is refused meanwhile, and staff may insist", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", `/servers/${name}`));
    await owner.press("button", server.wake);
    await owner.sees(server.insistHelp);
    const [sleepsUntil = ""] = server.asleepUntil("|").split("|");
    await owner.sees(sleepsUntil);
    await inspect(owner, "announcements-insist");
    const status = async () => (await owner.request("GET", `/servers/${name}/status`)).body;
    assert.equal(((await status()) as { desiredState: string }).desiredState, "Stopped");
    await owner.press("button", server.insist);
    await owner.seesNo(server.insistHelp);
    await owner.sees(server.phases.Starting);
    assert.equal((await owner.request("POST", `/servers/${name}/stop`)).status, 202);
  });

  test("it is changed and ended, and then nobody reads it any more", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/admin/announcements"));
    await owner.press("button", words.editOf(isolate(text)));
    await owner.sees(words.startBegun);
    await owner.fill(words.text, "Almost done.");
    await owner.press("button", words.save);
    await owner.sees("Almost done.");
    await owner.press("button", words.endOf(isolate("Almost done.")));
    await owner.sees(words.endHelp);
    await owner.press("button", words.endNow);
    await owner.sees(words.states.ended);
    await owner.seesNo(shell.noWakes);
  });
};
