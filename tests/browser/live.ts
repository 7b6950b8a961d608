import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { HTTPRequest, Page } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const { backups, server, shell } = en;
const streamPath = "/api/v1/me/events";

/** Answers some requests of a page by hand until the returned function is called. */
export async function intercept(
  page: Page,
  answer: (request: HTTPRequest) => boolean,
): Promise<() => Promise<void>> {
  const handle = (request: HTTPRequest) => {
    if (!answer(request)) void request.continue();
  };
  await page.setRequestInterception(true);
  page.on("request", handle);
  return async () => {
    page.off("request", handle);
    await page.setRequestInterception(false);
  };
}

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
    const job = { name: "restore-1", kind: "restore", state: "running", by: "other" };
    const jobs = { server: "survival", jobs: [{ ...job, started_at: new Date().toISOString() }] };
    const restore = await intercept(owner.page, (request) => {
      if (!request.url().endsWith("/servers/survival/jobs")) return false;
      void request.respond({ status: 200, contentType: "application/json", body: JSON.stringify(jobs) });
      return true;
    });
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.sees(server.workBy.other);
    await owner.sees(backups.jobs.restore);
    await inspect(owner, "world-held");
    await owner.press("link", server.showWork);
    await owner.isAt("/servers/survival/backups");
    await restore();
  });

  test("without live updates a bar says so; when they are back a newer build is offered", async () => {
    const { owner, addressOf, inspect } = fixture();
    let isAway = true;
    const restore = await intercept(owner.page, (request) => {
      const { pathname } = new URL(request.url());
      if (pathname === streamPath && isAway) void request.abort();
      else if (pathname === "/login" && request.resourceType() === "fetch") {
        const body = '<script type="module" src="/assets/another-build.js"></script>';
        void request.respond({ status: 200, contentType: "text/html", body });
      } else return false;
      return true;
    });
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.sees(shell.liveAway);
    await inspect(owner, "live-away");
    isAway = false;
    await owner.sees(shell.newBuild);
    await owner.page.waitForFunction(
      (words: string) => !document.body.textContent?.includes(words),
      {},
      shell.liveAway,
    );
    await inspect(owner, "newer-build");
    await restore();
    await owner.press("button", shell.reload);
    await owner.isAt("/servers");
    await owner.sees("survival");
  });
};
