// The game server of the stack has no LuckPerms, which the first case shows. For the rest, requests about one player are
// answered from replies as LuckPerms writes them, read by lifecycle's own parser; console/luck-perms.test.ts has the
// commands.

import { test } from "node:test";
import { consoles } from "@svc/proto";
import type { HTTPRequest, Page } from "puppeteer-core";
import { parseInfoPage, splitGroups } from "../../services/lifecycle/src/console/reply/luck-perms.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const { luckPerms, players } = en;

type LuckPerms = { player: string; nodes: Map<string, boolean>; groups: readonly string[] };

/** What LuckPerms 5 prints: green is allowed, red is denied. */
function infoOf({ player, nodes }: LuckPerms): string {
  const head = `§b${player}'s Permissions:  §7(page §f1§7 of §f1§7 - §f${nodes.size}§7 entries)`;
  return [head, ...[...nodes].map(([node, value]) => `§3> ${value ? "§a" : "§c"}${node} `)].join("\n");
}

function answerOf(luck: LuckPerms, request: HTTPRequest): object | undefined {
  const { pathname } = new URL(request.url());
  const [, what] =
    /^\/api\/v1\/servers\/survival\/access\/(luckperms|group|permission)\b/.exec(pathname) ?? [];
  if (what === undefined) return undefined;
  const { player, nodes } = luck;
  if (what === "luckperms") {
    const output = infoOf(luck);
    const rights = { player, ...splitGroups(parseInfoPage(output).permissions), output };
    return consoles.readLuckPerms.output.parse(rights);
  }
  const body = JSON.parse(request.postData() ?? "{}") as Record<string, string | boolean | undefined>;
  const node = what === "group" ? `group.${body["group"]}` : String(body["node"]);
  const isKnown = what !== "group" || luck.groups.includes(String(body["group"]));
  if (body["action"] === "remove" || body["action"] === "unset") nodes.delete(node);
  else if (isKnown) nodes.set(node, body["value"] !== false);
  const output = isKnown ? "§b[LP] Done." : "§b[LP] §cA group with that name does not exist.";
  const { action } = body;
  return consoles.changeGroup.output.parse({ name: "survival", action, player, output });
}

async function installLuckPerms(page: Page, luck: LuckPerms): Promise<() => Promise<void>> {
  const answer = (request: HTTPRequest) => {
    const body = answerOf(luck, request);
    if (!body) return void request.continue();
    void request.respond({ contentType: "application/json", body: JSON.stringify(body) });
  };
  await page.setRequestInterception(true);
  page.on("request", answer);
  return async () => {
    page.off("request", answer);
    await page.setRequestInterception(false);
  };
}

/** The server `survival` is awake. */
export const addLuckPermsTests: Area = (fixture) => {
  test("a server without LuckPerms says so and how to install it", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/luckperms"));
    await owner.fill(luckPerms.player, "not a name");
    await owner.page.keyboard.press("Enter");
    await owner.sees(players.invalid(isolate("not a name")));
    await owner.fill(luckPerms.player, "alice");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.faults.luckperms_missing);
    await owner.sees(luckPerms.openPlugins);
    await inspect(owner, "luckperms-missing");
  });

  test("groups and permissions of a player are shown and changed, and a refusal is LuckPerms' own", async () => {
    const { owner, addressOf, inspect } = fixture();
    const nodes = new Map([
      ["group.builder", true],
      ["essentials.fly", true],
      ["essentials.god", false],
    ]);
    const remove = await installLuckPerms(owner.page, { player: "alice", nodes, groups: ["builder", "vip"] });
    await owner.open(addressOf("admin_host", "/servers/survival/luckperms?player=alice"));
    await owner.sees("essentials.god");
    await owner.fill(luckPerms.addGroup, "king");
    await owner.page.keyboard.press("Enter");
    await owner.sees("A group with that name does not exist.");
    await owner.fill(luckPerms.addGroup, "vip");
    await owner.page.keyboard.press("Enter");
    await owner.page
      .locator(`::-p-aria([name=${JSON.stringify(luckPerms.removeOf(isolate("vip")))}])`)
      .wait();
    await owner.fill(luckPerms.addPermission, "worldedit.*");
    await owner.press("button", luckPerms.set);
    await owner.sees("worldedit.*");
    await inspect(owner, "luckperms");
    await owner.press("button", luckPerms.removeOf(isolate("essentials.god")));
    await owner.sees(luckPerms.unset(isolate("essentials.god"), isolate("alice")));
    await owner.press("button", players.undo);
    await owner.press("button", luckPerms.removeOf(isolate("essentials.god")));
    await remove();
  });
};
