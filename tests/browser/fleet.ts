import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area, Fixture } from "./fixture.ts";
import { type Person, selectorOf } from "./person.ts";

const { fleet, nodes, servers } = en;
/** More than two pages of the list. */
const many = 205;
const nameOf = (n: number) => `bulk-${String(n).padStart(3, "0")}`;

/** Servers without a world: nothing runs for them, and a backup of one is refused. */
async function createMany({ owner }: Fixture): Promise<void> {
  const refused = await owner.page.evaluate(
    async (names: string[]) => {
      const create = (name: string) =>
        fetch("/api/v1/servers", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ name, subdomain: name, autostartPolicy: "ownerOnly" }),
        });
      const answers: Response[] = [];
      for (let at = 0; at < names.length; at += 8)
        answers.push(...(await Promise.all(names.slice(at, at + 8).map(create))));
      return answers.filter(({ status }) => status !== 201).length;
    },
    Array.from({ length: many }, (_, n) => nameOf(n)),
  );
  assert.equal(refused, 0);
}

const rowAt = (index: number) => `[role=row][aria-rowindex="${index + 2}"] input[type=checkbox]`;

async function search(owner: Person, text: string, found: number): Promise<void> {
  await owner.fill(servers.search, text);
  await owner.sees(new RegExp(`(^|\\n)${servers.shown(found, found)}(\\n|$)`));
}

/** Answers wrap on a phone: none is cut off. */
async function assertUncut({ page }: Person): Promise<void> {
  await page.setViewport({ width: 360, height: 740 });
  const cut = await page.$$eval(`[role=list][aria-label="${fleet.results}"] [role=listitem] > *`, (parts) =>
    parts
      .filter(
        (part) => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display !== "inline",
      )
      .map(({ textContent }) => textContent),
  );
  const box = await page.$eval(
    `[role=list][aria-label="${fleet.results}"]`,
    (list) => list.scrollWidth - list.clientWidth,
  );
  await page.setViewport({ width: 1_440, height: 900 });
  assert.deepEqual([cut, box], [[], 0]);
}

export const addFleetTests: Area = (fixture) => {
  test("staff search, sort and scroll through all servers, read page by page", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers"));
    await createMany(fixture());
    await search(owner, "bulk-", many);
    await inspect(owner, "fleet");
    // The address follows what is typed a moment later, and leaves the list where somebody has scrolled to.
    await owner.fill(servers.search, "bulk");
    await owner.page.evaluate(() => window.scrollTo(0, 600));
    await owner.page.waitForFunction(() => new URLSearchParams(location.search).get("q") === "bulk");
    assert.ok((await owner.page.evaluate(() => scrollY)) > 0, "the list jumped to its top");
    await search(owner, "bulk-", many);
    await owner.page.waitForFunction(() => new URLSearchParams(location.search).get("q") === "bulk-");
    await owner.page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await owner.sees(nameOf(many - 1));
    assert.equal(new URL(owner.page.url()).searchParams.get("q"), "bulk-");
    await search(owner, "BULK 203", 1);
    await owner.fill(servers.search, "nothing is called so");
    await owner.sees(servers.noMatch);
    await inspect(owner, "fleet-no-match");
  });

  test("servers are chosen by keyboard and stopped together, with an answer for each", async () => {
    const { owner, inspect } = fixture();
    const { page } = owner;
    await search(owner, "bulk-", many);
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.waitForSelector(rowAt(0));
    await page.focus(rowAt(0));
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.down("Shift");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.up("Shift");
    await owner.sees(fleet.selected(3));
    await inspect(owner, "fleet-selected");
    await owner.press("button", fleet.acts.stop);
    await owner.sees(fleet.help.stop);
    await owner.press("button", fleet.actions.stop(3));
    await owner.sees(fleet.progress(3, 0, 0));
    await inspect(owner, "fleet-stopped");
    await owner.press("button", fleet.close);
  });

  test("on a phone the bar of the selection is one line, with its acts in a menu", async () => {
    const { owner, inspect } = fixture();
    const { page } = owner;
    await search(owner, "bulk-00", 10);
    await page.setViewport({ width: 360, height: 740 });
    await owner.press("checkbox", fleet.selectAll(10));
    await owner.sees(fleet.selectedShort(10));
    await page.waitForSelector(selectorOf("button", fleet.act));
    const height = await page.$eval(`section[aria-label="${fleet.bulk}"]`, (bar) => bar.clientHeight);
    assert.ok(height <= 64, `the bar is ${height} px high`);
    await owner.press("button", fleet.act);
    await owner.press("menuitem", fleet.acts.stop);
    await owner.sees(fleet.help.stop);
    await page.keyboard.press("Escape");
    await owner.seesNo(fleet.help.stop);
    await page.setViewport({ width: 1_440, height: 900 });
    await inspect(owner, "fleet-selected-phone");
    await owner.press("button", fleet.clear);
    await owner.seesNo(fleet.selected(10));
  });

  test("a bulk act on all that match says which were refused and why, and tries them again", async () => {
    const { owner, inspect } = fixture();
    await search(owner, "bulk-00", 10);
    await owner.press("checkbox", fleet.selectAll(10));
    await owner.sees(fleet.selected(10));
    await owner.press("button", fleet.acts.backup);
    await owner.press("button", fleet.actions.backup(10));
    await owner.sees(fleet.progress(0, 10, 0));
    await owner.sees(en.faults.no_world_volume);
    await assertUncut(owner);
    await inspect(owner, "fleet-refused");
    await owner.press("button", fleet.retry(10));
    await owner.press("button", fleet.close);
  });

  test("nodes show their servers, which the list of servers then holds", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/admin/nodes"));
    await owner.sees(nodes.noMoves);
    await owner.sees(nodes.approved);
    await inspect(owner, "nodes");
    const name = isolate("local-1");
    await owner.press("button", nodes.cordonOf(name));
    await owner.sees(nodes.cordonHelp);
    await inspect(owner, "node-cordon");
    await owner.press("button", nodes.cordon);
    await owner.sees(nodes.cordoned(name));
    await owner.press("button", nodes.uncordonOf(name));
    await owner.sees(nodes.uncordoned(name));
    const link = await owner.page.waitForSelector('a[href*="/servers?node="]');
    const href = await link?.evaluate((element) => element.getAttribute("href"));
    await link?.click();
    await owner.isAt("/servers");
    const node = new URL(owner.page.url()).searchParams.get("node") ?? "";
    assert.ok(node !== "" && href?.endsWith(node));
    await owner.sees(fleet.onNode(isolate(node)));
    await owner.press("button", fleet.allNodes);
  });
};
