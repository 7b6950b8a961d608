import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { Page } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const { backups, server, shell } = en;
const streamPath = "/api/v1/me/events";

function countStreams(page: Page): () => number {
  let count = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === streamPath) count++;
  });
  return () => count;
}

const shows = (page: Page, text: string) =>
  page.waitForFunction((wanted: string) => document.body.textContent?.includes(wanted), {}, text);

type Sent = { method: string; path: string; body?: string };

/** Calls the API as the person of a page. */
const send = (page: Page, sent: Sent) =>
  page.evaluate(async ({ method, path, body }: Sent) => {
    const headers = new Headers(body === undefined ? [] : [["content-type", "application/json"]]);
    const answer = await fetch(`/api/v1${path}`, { method, headers, ...(body !== undefined && { body }) });
    return answer.status;
  }, sent);

const rename = (page: Page, displayName: string) =>
  send(page, { method: "PATCH", path: "/servers/survival", body: JSON.stringify({ displayName }) });

export const addLiveTests: Area = (fixture) => {
  test("tabs share one stream of changes; when its tab is closed the other one goes on", async () => {
    const { owner, addressOf } = fixture();
    // Beside the first one: a tab behind another one draws nothing.
    const other = await owner.page.browserContext().newPage({ type: "window" });
    const streams = [countStreams(owner.page), countStreams(other)];
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await until(() => streams[0]?.() === 1, 20_000, "the stream of the first tab");
    await other.goto(addressOf("admin_host", "/servers"));
    await shows(other, "survival");
    for (const name of ["Renamed", "survival"]) {
      assert.equal(await rename(owner.page, name), 200);
      await shows(other, name);
      await shows(owner.page, name);
    }
    assert.equal(streams[1]?.(), 0);
    // The page that is left may be kept for the way back.
    await owner.page.goto("about:blank");
    await until(() => streams[1]?.() === 1, 20_000, "the stream of the other tab");
    await owner.page.goBack();
    for (const name of ["Renamed", "survival"]) {
      assert.equal(await rename(other, name), 200);
      await shows(owner.page, name);
    }
    await other.close();
  });

  test("a backup that was started elsewhere is told of when it ends, wherever one is", async () => {
    const { owner, player, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await owner.press("link", shell.account);
    await owner.isAt("/account");
    assert.equal(await send(owner.page, { method: "POST", path: "/servers/survival/backup" }), 202);
    await owner.sees(backups.jobOf(isolate("survival"), backups.jobsDone.backup));
    assert.equal(await send(player.page, { method: "GET", path: "/servers/survival/jobs" }), 403);
  });

  test("what works on a world is said on all pages of its server", async () => {
    const { owner, addressOf, inspect } = fixture();
    // Its Job waits until somebody fetches the download, and holds the world until then.
    const begun = await owner.request("POST", "/servers/survival/world/export");
    assert.equal(begun.status, 202, JSON.stringify(begun.body));
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.sees(server.workBy.you);
    await owner.sees(backups.jobs.export_world);
    await inspect(owner, "world-held");
    await owner.press("link", server.showWork);
    await owner.isAt("/servers/survival/backups");
    const path = `/exports/${String(begun.body["ticket"])}`;
    await until(
      async () => (await owner.request("GET", path)).body["state"] === "ready",
      30_000,
      "the download",
    );
    await owner.page.evaluate(async (address) => {
      await (await fetch(`/api/v1${address}/download`)).arrayBuffer();
    }, path);
    await owner.seesNo(backups.jobs.export_world);
  });

  test("without live updates a bar says so, until there are some again", async () => {
    const { owner, stack, addressOf, inspect } = fixture();
    const { external_base_url, admin_host } = stack.file();
    const all = await owner.page.browserContext().cookies();
    // The owner may be signed in on the panel's host as well.
    const cookies = all.filter(({ domain }) => domain === admin_host);
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    const host = `${admin_host}:${new URL(external_base_url).port}`;
    await owner.page.goto("about:blank");
    // As many streams as an account may have (docs/reference/events.md#stream), held by other devices.
    const held: IncomingMessage[] = [];
    let refusals = 0;
    await until(async () => {
      const stream = await openStream(external_base_url, { host, cookie });
      assert.ok(stream.statusCode === 200 || stream.statusCode === 429, `${stream.statusCode}`);
      if (stream.statusCode === 200) held.push(stream);
      else stream.destroy();
      refusals = stream.statusCode === 200 ? 0 : refusals + 1;
      // One that was left a moment ago may count still.
      return refusals >= 10;
    }, 30_000);
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.sees(shell.liveAway);
    await owner.sees("survival");
    await inspect(owner, "live-away");
    for (const stream of held) stream.destroy();
    await owner.seesNo(shell.liveAway);
  });
};

function openStream(base: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, fail) => {
    get(new URL(streamPath, base), { headers, agent: false }, resolve).on("error", fail);
  });
}
