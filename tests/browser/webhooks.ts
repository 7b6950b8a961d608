// Webhooks of a server and of the installation in the panel.

import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { webhooks as words } from "../../services/panel/src/words/en/webhooks.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { type Area, playerAt } from "./fixture.ts";
import type { Person } from "./person.ts";

const { server, shell } = en;
const name = "hooked-one";

export const addWebhookTests: Area = (fixture) => {
  const label = "my chat";
  let alice: Person;

  test("a webhook is added, its secret is shown once, and its test says why it did not arrive", async () => {
    const { owner, addressOf, inspect } = fixture();
    const made = await owner.request("POST", "/servers", { name, subdomain: name });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    alice = await playerAt(fixture(), `/servers/${name}`);
    await alice.press("button", `${server.claim} ${name}`);
    await alice.sees(shell.webhooks);
    await alice.open(addressOf("panel_host", `/servers/${name}/webhooks`));
    await alice.sees(words.none);
    await inspect(alice, "webhooks-empty");
    await alice.press("button", words.add);
    await alice.fill(words.label, label);
    await alice.press("radio", words.formats.json);
    await alice.fill(words.url, "http://chat.example.invalid/hook");
    await alice.press("checkbox", words.eventWords["server.ready"]);
    await inspect(alice, "webhooks-new");
    await alice.press("button", words.save);
    await alice.sees(en.faults.bad_webhook_url);
    await alice.fill(words.url, "https://chat.example.invalid/hook-secret");
    await alice.press("button", words.save);
    await alice.sees(words.secretHelp);
    await inspect(alice, "webhooks-secret");
    const secret = await alice.page.$eval("[role=alertdialog] code", (code) => code.textContent ?? "");
    assert.match(secret, /^svc_whs_/);
    await alice.press("button", words.secretDone);
    await alice.sees("chat.example.invalid");
    const page = await alice.page.content();
    assert.ok(!page.includes(secret) && !page.includes("hook-secret"), "the secrets are gone");
    await alice.press("button", words.testOf(isolate(label)));
    await alice.sees(words.testSent(isolate(label)));
    await alice.page.locator("main details summary").click();
    await alice.sees(words.failures.no_address);
    await inspect(alice, "webhooks-failed");
  });

  test("a webhook is switched off and deleted", async () => {
    await alice.press("switch", words.switchOf(isolate(label)));
    await alice.sees(words.offReasons.by_hand);
    await alice.press("button", words.removeOf(isolate(label)));
    await alice.sees(words.removeHelp);
    await alice.press("button", words.remove);
    await alice.sees(words.none);
    assert.deepEqual(alice.faults(), []);
    await alice.leave();
  });

  test("staff have those of the installation, with alerts", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/admin/webhooks"));
    await owner.sees(words.aboutPlatform);
    await owner.sees(shell.webhooks);
    await owner.press("button", words.add);
    await owner.sees(words.eventWords["alert.firing"]);
    await inspect(owner, "webhooks-platform");
    await owner.press("button", shell.cancel);
  });
};
