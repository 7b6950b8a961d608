import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area, Fixture } from "./fixture.ts";

const { server, settings } = en;

type Status = {
  autostartPolicy?: string;
  idleStopSeconds: number;
  retiring?: object;
  keptAwakeUntil?: string;
};

const dayMs = 86_400_000;

async function statusOf({ stack }: Fixture): Promise<Status> {
  const { body } = await stack.internal("GET", "/api/v1/internal/servers/survival/status");
  return body as Status;
}

export const addSettingsTests: Area = (fixture) => {
  test("staff change who may wake a server and when it stops", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.sees(settings.hardware);
    const type = async (minutes: string) => {
      await owner.page.locator('input[name="idle-minutes"]').click({ count: 3 });
      await owner.page.keyboard.type(minutes);
    };
    await type("0.5");
    await owner.press("button", settings.save);
    await owner.page.waitForSelector("input[aria-invalid=true]");
    await inspect(owner, "settings-refused");
    await type("20");
    await owner.page.locator("input[type=radio][value=allowlist]").click();
    await owner.press("button", settings.save);
    await owner.sees(settings.saved);
    await until(async () => (await statusOf(fixture())).idleStopSeconds === 1_200);
    assert.equal((await statusOf(fixture())).autostartPolicy, "allowlist");
    await inspect(owner, "settings");
  });

  test("what happens after a crash and in a hang is chosen, and read again", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.sees(settings.restartPolicy);
    const type = async (minutes: string) => {
      await owner.page.locator('input[name="silent-minutes"]').click({ count: 3 });
      await owner.page.keyboard.type(minutes);
    };
    await owner.page.locator("input[type=radio][value=restart_if_silent]").click();
    await type("3");
    await owner.press("button", settings.saveRestartPolicy);
    await owner.page.waitForSelector("input[name=silent-minutes][aria-invalid=true]");
    await inspect(owner, "settings-policy-refused");
    await type("15");
    await owner.page.locator("input[type=radio][value=stop]").click();
    await owner.press("button", settings.saveRestartPolicy);
    await until(() =>
      owner.page.evaluate(async () => {
        const policy = await (await fetch("/api/v1/servers/survival/restart-policy")).json();
        return (
          JSON.stringify(policy) ===
          '{"after_crash":"stop","when_hung":"restart_if_silent","silent_minutes":15}'
        );
      }),
    );
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.page.waitForSelector("input[type=radio][value=stop]:checked");
    await inspect(owner, "settings-policy");
    await owner.page.evaluate(() =>
      fetch("/api/v1/servers/survival/restart-policy", {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ after_crash: "restart", when_hung: "restart", silent_minutes: 10 }),
      }).then(() => undefined),
    );
  });

  test("a tag is added, leads to the servers that have it, and is removed", async () => {
    const { owner, addressOf, inspect } = fixture();
    const { servers } = en;
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.fill(settings.tag, "Event night");
    await owner.fill(settings.tagColour, "red");
    await owner.press("button", settings.addTag);
    await owner.sees("event night");
    await inspect(owner, "settings-tags");
    await owner.press("link", "event night");
    await owner.isAt("/servers");
    await owner.sees(servers.tagged(isolate("event night")));
    await owner.sees(servers.shown(1, 1));
    await inspect(owner, "fleet-tagged");
    await owner.press("button", servers.allTags);
    await owner.seesNo(servers.tagged(isolate("event night")));
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.press("button", settings.removeTag(isolate("event night")));
    await owner.seesNo("event night");
  });

  test("a server is kept awake until a time, and no longer", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await owner.sees(server.notKeptAwake);
    await owner.press("button", server.keepAwake);
    await owner.sees(server.untilProblems.empty);
    const at = Math.ceil(Date.now() / dayMs) * dayMs + dayMs;
    // The browser of the lane is in the zone of the machine.
    const shift = await owner.page.evaluate((time) => new Date(time).getTimezoneOffset() * 60_000, at);
    const pick = (time: number) => owner.pick("until", new Date(time - shift).toISOString().slice(0, 16));
    await pick(at + 30 * dayMs);
    await owner.sees(server.untilProblems.late);
    await inspect(owner, "server-keep-awake-refused");
    await pick(at);
    await owner.press("button", server.keepAwake);
    const keptUntil = async () => (await statusOf(fixture())).keptAwakeUntil;
    await until(async () => (await keptUntil()) === new Date(at).toISOString());
    await owner.sees(server.endKeepAwake);
    await inspect(owner, "server-kept-awake");
    await owner.press("button", server.endKeepAwake);
    await owner.sees(server.notKeptAwake);
    await until(async () => (await keptUntil()) === undefined);
  });

  test("a server that is given up says so on its pages, and can be kept", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.press("button", settings.giveUp);
    await owner.sees(settings.giveUpHelp);
    await inspect(owner, "settings-give-up");
    await owner.page.locator('input[name="confirm"]').fill("survival");
    await owner.page.locator("[role=alertdialog] button:last-of-type").click();
    await owner.sees(server.keep);
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await owner.sees(server.keep);
    await inspect(owner, "server-retiring");
    await owner.press("button", server.keep);
    await until(async () => (await statusOf(fixture())).retiring === undefined);
  });

  test("its activity names what was done", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/activity"));
    await owner.sees(en.audit.actions["server.retire_cancel"]);
    await owner.sees(en.audit.actions["server.patch"]);
    await owner.sees(en.audit.actions["server.keep_awake"]);
    await inspect(owner, "activity");
  });

  test("a stranger sees neither settings nor activity", async () => {
    const { player, addressOf } = fixture();
    for (const page of ["settings", "activity"]) {
      await player.open(addressOf("panel_host", `/servers/survival/${page}`));
      await player.sees(en.shell.home);
    }
  });
};
