// Status pages in a real browser, at a gateway whose views a test writes: no other service is needed, and none is asked.
// SVC_BROWSER_LANE names the browser, such as /usr/bin/chromium.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats } from "@svc/mesh/testing";
import {
  accounts,
  announcements,
  memberRights,
  members,
  restartPolicies,
  servers,
  statusPages,
} from "@svc/proto";
import type { Browser } from "puppeteer-core";
import { ensureBuilt } from "../../services/panel/build/build.ts";
import { status as words } from "../../services/panel/src/words/en/status.ts";
import { startBrowser } from "./browser.ts";
import { inspect } from "./inspect.ts";
import { createPerson, type Person } from "./person.ts";

const repo = fileURLToPath(new URL("../../", import.meta.url));
const binary = process.env["SVC_BROWSER_LANE"];
const cookie = "c".repeat(43);
const dayMs = 86_400_000;
const now = () => new Date().toISOString();

const server = {
  ...{ subdomain: "anvil", address: "anvil.svc.localhost", name: "Anvil <b>World</b>" },
  ...{ state: "online" as const, players: { online: 3, max: 20 } },
};
const page = (): statusPages.StatusPage => ({
  ...{ ...server, motd: "Come and play", since: now(), as_of: now() },
  days: Array.from({ length: 40 }, (_, index) => ({
    day: new Date(Date.now() - (39 - index) * dayMs).toISOString().slice(0, 10),
    known_minutes: 1_440,
    down_minutes: index === 10 ? 400 : index === 20 ? 7 : 0,
    planned_minutes: index === 30 ? 60 : 0,
  })),
});

describe("status pages in a browser", () => {
  if (!binary || !existsSync(binary)) {
    test("skipped: set SVC_BROWSER_LANE to the browser, such as /usr/bin/chromium", (t) => t.skip());
    return;
  }
  let nats: TestNats;
  let meshes: Mesh[];
  let gateway: ChildProcess;
  let browser: Browser;
  let port: number;
  let isShown = false;
  const addressOf = (path: string) => `http://console.svc.localhost:${port}${path}`;
  const looksWell = async (person: Person, name: string) => {
    assert.deepEqual(await inspect(person, name, { isWhole: true }), []);
    assert.deepEqual(person.faults(), []);
  };

  before(async () => {
    nats = await startTestNats();
    const [lifecycle, identity] = [await nats.connect("lifecycle"), await nats.connect("identity")];
    meshes = [lifecycle, identity];
    await writeViews(lifecycle);
    serveOwner(
      { lifecycle, identity },
      () => isShown,
      (next) => {
        isShown = next;
      },
    );
    [gateway, port] = await startGateway(nats, await ensureBuilt(repo));
    browser = await startBrowser(binary);
  });
  after(async () => {
    await browser?.close();
    gateway?.kill("SIGTERM");
    if (gateway) await once(gateway, "exit");
    for (const mesh of meshes ?? []) await mesh.drain(500);
    await nats?.stop();
  });

  test("everybody reads a page that is shown, without signing in", async () => {
    const person = await createPerson(browser);
    await person.open(addressOf("/status/anvil"));
    await person.sees(server.name);
    await person.sees(words.states.online);
    await person.sees(words.players(3, 20));
    await person.sees("Come and play");
    await person.sees(server.address);
    await person.sees("99.29 %");
    await looksWell(person, "status-page");
    await person.leave();
  });

  test("the list leads to it, and what is not shown is not found", async () => {
    const person = await createPerson(browser);
    await person.open(addressOf("/status"));
    await person.sees(words.more(2));
    await looksWell(person, "status-list");
    await person.press("link", server.name);
    await person.isAt("/status/anvil");
    await person.open(addressOf("/status/nothing-there"));
    await person.sees(words.notFoundHelp);
    await looksWell(person, "status-not-found");
    await person.leave();
  });

  test("its owner shows it, sees the badge, and hides it again", async () => {
    const person = await createPerson(browser);
    const about = { name: "svc_session", value: cookie, domain: "console.svc.localhost", path: "/" };
    await person.page.browserContext().setCookie(about);
    await person.open(addressOf("/servers/anvil-inside/settings"));
    await person.press("switch", words.show);
    await person.sees(words.shown);
    assert.equal(isShown, true);
    await person.sees(addressOf("/status/anvil"));
    const badge = await person.page.waitForSelector(`img[alt="${words.badgeAlt}"]`);
    await person.page.waitForFunction((image) => (image as HTMLImageElement).naturalWidth > 50, {}, badge);
    await looksWell(person, "settings-status-page");
    await person.press("switch", words.show);
    await person.sees(words.hidden);
    assert.equal(isShown, false);
    await person.leave();
  });
});

async function writeViews(lifecycle: Mesh): Promise<void> {
  const pages = await lifecycle.writeView(statusPages.pages);
  await pages.replace(new Map([["anvil", page()]]));
  const overviews = await lifecycle.writeView(statusPages.overviews);
  const asleep = { ...server, subdomain: "beacon", name: "Beacon", state: "asleep" as const };
  const overview = { servers: [server, asleep], more: 2, as_of: now() };
  await overviews.replace(new Map([[statusPages.overviewKey, overview]]));
  for (const view of [announcements.shown, announcements.shownToAll])
    await (await lifecycle.writeView(view)).replace(new Map());
  const name = "anvil-inside";
  const infos = await lifecycle.writeView(servers.servers);
  const counts = { playersOnline: 0, playersMax: 20, idleStopSeconds: 600 };
  const info = { name, subdomain: "anvil", phase: "Stopped" as const, ready: false, ...counts };
  await infos.replace(new Map([[name, info]]));
  const owners = await lifecycle.writeView(servers.serverOwners);
  const owner = { name, subdomain: "anvil", claimable: false, ownerId: "usr-1" };
  await owners.replace(new Map([[name, owner]]));
}

type Services = { lifecycle: Mesh; identity: Mesh };

/** One account, who owns the server. */
function serveOwner(
  { lifecycle, identity }: Services,
  isShown: () => boolean,
  change: (isShown: boolean) => void,
): void {
  const about = { user_id: "usr-1", username: "ada", role: "user" as const };
  identity.serve(accounts.resolveSession, () => ({
    ...{ state: "live" as const, ...about, setup: false, host: "player" as const },
    expires_at: new Date(Date.now() + dayMs).toISOString(),
  }));
  identity.serve(accounts.me, () => ({
    ...{ ...about, email: "ada@example.org", email_verified: true, is_admin: false, is_owner: false },
  }));
  const shown = () => ({
    ...{ public: isShown(), subdomain: "anvil", address: server.address, listed: true },
    ...(isShown() && { since: now() }),
  });
  lifecycle.serve(statusPages.read, shown);
  lifecycle.serve(statusPages.write, (_context, { public: next }) => {
    change(next);
    return shown();
  });
  lifecycle.serve(members.readMine, (_context, { name }) => ({
    ...{ server: name, as: "owner" as const, rights: [...memberRights] },
  }));
  lifecycle.serve(restartPolicies.read, () => ({
    ...{ after_crash: "restart" as const, when_hung: "restart" as const, silent_minutes: 10 },
  }));
}

async function startGateway(nats: TestNats, panel: string): Promise<[ChildProcess, number]> {
  const main = fileURLToPath(new URL("../../services/gateway-external/src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [testProgram(main)], {
    env: {
      ...process.env,
      SVC_NATS_URL: nats.url,
      SVC_NATS_PASSWORD: nats.passwords["gateway-external"],
      SVC_LISTEN: "127.0.0.1:0",
      SVC_SET: `server.root_domain=svc.localhost\npanel.dir=${panel}`,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    const entry = JSON.parse(line);
    if (entry.msg !== "listening on the external face") continue;
    child.stdout.resume();
    return [child, entry.port];
  }
  throw new Error("the gateway ended before it listened");
}
