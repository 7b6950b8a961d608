// Groups in the panel: made, started in their order, cancelled and stopped.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { groups as words } from "../../services/panel/src/words/en/groups.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const names = ["group-one", "group-two"] as const;
const shown = isolate("Evening");

export const addGroupTests: Area = (fixture) => {
  const phaseOf = async (name: string) => {
    const { body } = await fixture().owner.request("GET", `/servers/${name}/status`);
    return body["phase"];
  };

  test("a group is made of own servers, and says what is missing", async () => {
    const { owner, addressOf, inspect } = fixture();
    const { body: me } = await owner.request("GET", "/me");
    for (const name of names) {
      const made = { name, subdomain: name, owner: me["user_id"] };
      assert.equal((await owner.request("POST", "/servers", made)).status, 201);
    }
    await owner.open(addressOf("admin_host", "/groups"));
    await owner.sees(words.none);
    await inspect(owner, "groups-empty");
    await owner.press("button", words.add);
    await owner.press("button", words.save);
    await owner.sees(words.nameMissing);
    await owner.sees(words.stagesMissing);
    await owner.fill(words.name, "Evening");
    for (const [at, name] of names.entries()) await owner.fill(words.stageOf(isolate(name)), String(at + 1));
    await inspect(owner, "groups-new");
    await owner.press("button", words.save);
    await owner.sees(words.saved);
    await owner.sees(words.order(2, names[1]));
  });

  test("it starts in its order, each server with its result, and stops again", async () => {
    const { owner, inspect } = fixture();
    await owner.press("button", words.startOf(shown));
    await owner.sees(words.states.start.running);
    await inspect(owner, "groups-starting");
    await until(async () => (await phaseOf(names[1])) === "Running", 120_000);
    await owner.seesOnReturn(words.states.start.done);
    await owner.press("button", words.stopOf(shown));
    await owner.sees(words.stopHelp);
    await owner.press("button", words.stopAction);
    await until(async () => (await phaseOf(names[0])) === "Stopped", 120_000);
    await owner.seesOnReturn(words.states.stop.done);
    await inspect(owner, "groups");
  });

  test("it is deleted, and its servers stay", async () => {
    const { owner } = fixture();
    await owner.press("button", words.removeOf(shown));
    await owner.press("button", words.removeAction);
    await owner.sees(words.removed);
    await owner.sees(words.none);
    assert.equal(await phaseOf(names[0]), "Stopped");
  });
};
