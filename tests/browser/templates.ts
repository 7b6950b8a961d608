// A template is made from a server, offered, and used by staff and by somebody who is none.

import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { templates as words } from "../../services/panel/src/words/en/templates.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { type Area, playerAt } from "./fixture.ts";
import { selectorOf } from "./person.ts";

const { create, server, servers, shell } = en;
const [model, ofStaff, ofAlice] = ["template-model", "of-template", "alices-own"] as const;
const shown = isolate("Event night");

export const addTemplateTests: Area = (fixture) => {
  test("staff make a template from a server, and what is missing is named", async () => {
    const { owner, addressOf, inspect } = fixture();
    const given = { name: model, subdomain: model, memory: "1Gi", autostartPolicy: "public" };
    assert.equal((await owner.request("POST", "/servers", given)).status, 201);
    await owner.open(addressOf("admin_host", "/admin/templates"));
    await owner.sees(words.none);
    await inspect(owner, "templates-empty");
    await owner.press("button", words.add);
    await owner.press("button", words.save);
    await owner.sees(words.nameWrong);
    await owner.fill(words.name, "event");
    await owner.fill(words.title, "Event night");
    await owner.fill(words.description, "For one evening.");
    await owner.fill(words.from, model);
    await owner.press("button", words.take);
    await owner.sees(words.taken(isolate(model)));
    await owner.fill(words.env, "MODE");
    await owner.press("button", words.save);
    await owner.sees(words.envWrong);
    await owner.fill(words.env, "MODE=event");
    await owner.press("checkbox", words.offered);
    await inspect(owner, "templates-new");
    await owner.press("button", words.save);
    await owner.sees(words.saved);
    await owner.sees("Event night");
    await inspect(owner, "templates");
    const { body } = await owner.request("GET", "/platform/server-templates/event");
    const { memory, autostartPolicy, env } = body["settings"] as Record<string, unknown>;
    assert.deepEqual([memory, autostartPolicy, env], ["1Gi", "public", [{ name: "MODE", value: "event" }]]);
  });

  test("staff make a server of it", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/new"));
    await owner.fill(words.choose, "event");
    await owner.fill(create.name, ofStaff);
    await owner.sees("For one evening.");
    await inspect(owner, "template-create-staff");
    await owner.press("button", create.submit);
    await owner.isAt(`/servers/${ofStaff}`);
    const { body } = await owner.request("GET", `/servers/${ofStaff}/status`);
    assert.equal(body["autostartPolicy"], "public");
  });

  test("somebody who is no staff makes a server of their own of it", async () => {
    const { inspect } = fixture();
    const alice = await playerAt(fixture(), "/servers");
    await alice.press("link", servers.create);
    await alice.sees("For one evening.");
    await alice.sees(words.left(3));
    await alice.fill(create.name, ofStaff);
    await alice.press("button", create.submit);
    await alice.sees(en.faults.name_taken);
    await inspect(alice, "template-create-refused");
    await alice.fill(create.name, ofAlice);
    await alice.press("button", create.submit);
    await alice.isAt(`/servers/${ofAlice}`);
    await alice.sees(server.wake);
    const { body } = await alice.request("GET", "/me/server-templates");
    assert.equal(body["left"], 2);
    await alice.leave();
  });

  test("a template that somebody else changed meanwhile is not overwritten", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/admin/templates"));
    await owner.press("button", words.editOf(shown));
    const other = { title: "Event night", offered: true, settings: {}, revision: 1 };
    assert.equal((await owner.request("PUT", "/platform/server-templates/event", other)).status, 200);
    await owner.fill(words.description, "Mine.");
    await owner.press("button", words.save);
    await owner.sees(en.faults.template_changed);
    await owner.press("button", shell.cancel);
  });

  test("one whose image is not allowed any more says so to both, and is deleted", async () => {
    const { owner, addressOf, inspect } = fixture();
    const old = { title: "Event night", offered: true, settings: { image: "elsewhere/old:1" }, revision: 2 };
    assert.equal((await owner.request("PUT", "/platform/server-templates/event", old)).status, 200);
    const alice = await playerAt(fixture(), "/servers/new");
    await alice.sees(words.problems.image_not_whitelisted);
    await inspect(alice, "template-not-usable");
    await owner.open(addressOf("admin_host", "/admin/templates"));
    await owner.sees(words.problems.image_not_whitelisted);
    await inspect(owner, "templates-problem");
    await owner.press("button", words.deleteOf(shown));
    await owner.sees(words.deleteTitle(shown));
    await owner.page.locator(`[role=alertdialog] ${selectorOf("button", words.delete)}`).click();
    await owner.sees(words.deleted);
    await owner.sees(words.none);
    await alice.open(addressOf("panel_host", "/servers/new"));
    await alice.sees(words.noneOffered);
    await inspect(alice, "template-none");
    await alice.leave();
    const { body } = await owner.request("GET", `/servers/${ofAlice}/status`);
    assert.equal(body["phase"], "Stopped", JSON.stringify(body));
  });
};
