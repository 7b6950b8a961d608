// Sizes and counts of what a browser loads (docs/reference/panel.md#budgets).

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Protocol } from "puppeteer-core";
import type { Area } from "./fixture.ts";
import { createPerson, type Person } from "./person.ts";

const kb = 1_000;

type Loaded = { requests: number; assets: number; scripts: number; styles: number; bytes: number };

/** What comes over the line while something is done. */
async function loadedBy({ session }: Person, act: () => Promise<unknown>): Promise<Loaded> {
  const loaded: Loaded = { requests: 0, assets: 0, scripts: 0, styles: 0, bytes: 0 };
  const responses = new Map<string, Protocol.Network.ResponseReceivedEvent>();
  const receive = (event: Protocol.Network.ResponseReceivedEvent) => {
    if (!event.response.fromDiskCache) responses.set(event.requestId, event);
  };
  const fromMemory = ({ requestId }: Protocol.Network.RequestServedFromCacheEvent) =>
    responses.delete(requestId);
  const finish = ({ requestId, encodedDataLength }: Protocol.Network.LoadingFinishedEvent) => {
    const event = responses.get(requestId);
    if (!event) return;
    loaded.requests++;
    loaded.bytes += encodedDataLength;
    if (encodedDataLength > 0 && new URL(event.response.url).pathname.startsWith("/assets/")) loaded.assets++;
    if (event.type === "Script") loaded.scripts += encodedDataLength;
    if (event.type === "Stylesheet") loaded.styles += encodedDataLength;
  };
  await session.send("Network.enable");
  session.on("Network.responseReceived", receive);
  session.on("Network.requestServedFromCache", fromMemory);
  session.on("Network.loadingFinished", finish);
  await act();
  session.off("Network.responseReceived", receive);
  session.off("Network.requestServedFromCache", fromMemory);
  session.off("Network.loadingFinished", finish);
  return loaded;
}

/** Opens a page and waits until it has fetched what it needs. */
async function load(person: Person, address: string): Promise<void> {
  await person.open(address);
  await person.page.waitForNetworkIdle({ idleTime: 500, concurrency: 2 });
}

const inKb = (bytes: number) => Math.round(bytes / kb);

export const addFigureTests: Area = (fixture) => {
  test("sign-in loads little, and the second time no asset at all", async (t) => {
    const { browser, addressOf } = fixture();
    const stranger = await createPerson(browser);
    const address = addressOf("panel_host", "/login");
    const first = await loadedBy(stranger, () => load(stranger, address));
    t.diagnostic(
      `scripts ${inKb(first.scripts)} KB of 180, styles ${inKb(first.styles)} of 30, all ${inKb(first.bytes)} of 400, ${first.requests} requests of 25`,
    );
    assert.ok(first.scripts > 50 * kb, "the browser loaded the scripts");
    assert.ok(
      first.scripts <= 180 * kb && first.styles <= 30 * kb && first.bytes <= 400 * kb && first.requests <= 25,
      JSON.stringify(first),
    );
    const second = await loadedBy(stranger, () => load(stranger, address));
    assert.equal(second.assets, 0, JSON.stringify(second));
    await stranger.leave();
  });

  test("each other page adds at most 120 KB of scripts, the editor 140", async (t) => {
    const { owner, addressOf } = fixture();
    await owner.session.send("Network.clearBrowserCache");
    await load(owner, addressOf("admin_host", "/"));
    const pages = [
      "/servers",
      "/servers/survival",
      "/servers/survival/backups",
      "/servers/survival/files",
      "/servers/survival/schedules",
      "/servers/survival/players",
      "/servers/survival/settings",
      "/account",
      "/admin/users",
      "/admin/audit",
    ];
    for (const path of pages) {
      const { scripts } = await loadedBy(owner, () => load(owner, addressOf("admin_host", path)));
      t.diagnostic(`${path} ${inKb(scripts)} KB of 120`);
      assert.ok(scripts <= 120 * kb, `${path} loads ${scripts} bytes of scripts`);
    }
    const editor = await loadedBy(owner, () =>
      load(owner, addressOf("admin_host", "/servers/survival/files?open=server.properties")),
    );
    t.diagnostic(`editor ${inKb(editor.scripts)} KB of 140`);
    assert.ok(editor.scripts > 50 * kb && editor.scripts <= 140 * kb, String(editor.scripts));
  });
};
