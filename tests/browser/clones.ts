// A server like another one, and what its page says while its world is not there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const { backups, server, settings } = en;

type Origin = { state: string; source: string; message?: string };

export const addCloneTests: Area = (fixture) => {
  const originOf = async (name: string) => {
    const { body } = await fixture().owner.request("GET", `/servers/${name}/origin`);
    return body["origin"] as Origin | undefined;
  };

  test("a clone with a name that is taken is refused, one with a free name has the settings and no world", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.fill(settings.cloneWorld, "none");
    await owner.fill(settings.cloneName, "survival");
    await owner.press("button", settings.cloneServer);
    await owner.sees(en.faults.name_taken);
    await inspect(owner, "settings-clone-refused");
    await owner.fill(settings.cloneName, "twin");
    await owner.press("button", settings.cloneServer);
    await owner.sees(settings.cloned(isolate("twin")));
    await owner.isAt("/servers/twin");
    await owner.sees(server.address);
    assert.equal(await originOf("twin"), undefined);
    const { body } = await owner.request("GET", "/servers/twin/status");
    const { body: source } = await owner.request("GET", "/servers/survival/status");
    assert.equal(body["image"], source["image"]);
  });

  test("a clone gets the world of a backup, and cannot be woken before", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.request("POST", "/servers/survival/stop");
    const phase = async () => (await owner.request("GET", "/servers/survival/status")).body["phase"];
    await until(async () => (await phase()) === "Stopped");
    // What an earlier test began may still use the world.
    const made = await until(async () => {
      const reply = await owner.request("POST", "/servers/survival/clone", {
        as: "third",
        world: "new_backup",
      });
      if (reply.status === 409) throw new Error(JSON.stringify(reply.body));
      return reply;
    }, 60_000);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const woken = await owner.request("POST", "/servers/third/wake");
    assert.equal(woken.status, 409, JSON.stringify(woken.body));
    await owner.open(addressOf("admin_host", "/servers/third"));
    await until(async () => {
      const origin = await originOf("third");
      assert.notEqual(origin?.state, "failed", origin?.message);
      return origin?.state === "done";
    }, 60_000);
    await owner.open(addressOf("admin_host", "/servers/third/backups"));
    await owner.sees(backups.jobsDone.restore);
    await inspect(owner, "clone-arrived");
  });
};
