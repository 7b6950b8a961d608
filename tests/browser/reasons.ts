// What cannot be done now says why at its button, by keyboard and to readers; and rows stand as close as somebody wants them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";
import { pressKey, tabTo } from "./keyboard.ts";
import type { Person } from "./person.ts";

const { backups, reasons, server, settings, shell } = en;

/** Reasons that stand at disabled controls, as readers hear them. */
const held = ({ page }: Person) =>
  page.$$eval("main [role=group][aria-describedby]", (groups) =>
    groups.map(
      (group) => document.getElementById(group.getAttribute("aria-describedby") ?? "")?.textContent ?? "",
    ),
  );

const focused = ({ page }: Person) => page.evaluate(() => document.activeElement?.getAttribute("role"));

/** What stands over the page, beside it. */
const bubble = ({ page }: Person) =>
  page.evaluate(() =>
    [...document.querySelectorAll("body > [aria-hidden=true]")].map(({ textContent }) => textContent).join(),
  );

const rowHeight = ({ page }: Person) =>
  page.$eval("main :is([role=rowgroup] [role=row], tbody tr)", (row) =>
    Math.round(row.getBoundingClientRect().height),
  );

/** With a server `survival` that is asleep and has a world. */
export const addReasonTests: Area = (fixture) => {
  test("what a download of the world holds up says so at its buttons, by keyboard too", async () => {
    const { owner, addressOf, inspect } = fixture();
    const begun = await owner.request("POST", "/servers/survival/world/export");
    assert.equal(begun.status, 202, JSON.stringify(begun.body));
    await owner.open(addressOf("admin_host", "/servers/survival/backups"));
    const reason = reasons.busy(backups.jobs.export_world);
    await until(async () => (await held(owner)).includes(`${backups.make}: ${reason}`));
    assert.ok((await held(owner)).includes(`${backups.downloadWorld}: ${reason}`));
    assert.ok((await held(owner)).includes(`${server.wake}: ${reason}`));
    await inspect(owner, "backups-held");
    await tabTo(owner, "link", shell.skip);
    await pressKey(owner, "Enter");
    await until(async () => {
      await pressKey(owner, "Tab");
      return (await focused(owner)) === "group";
    });
    assert.equal(await bubble(owner), reason);
    await pressKey(owner, "Escape");
    assert.equal(await bubble(owner), "");
    const path = `/exports/${String(begun.body["ticket"])}`;
    await until(
      async () => (await owner.request("GET", path)).body["state"] === "ready",
      30_000,
      "the download",
    );
    await owner.page.evaluate(async (address) => {
      await (await fetch(`/api/v1${address}/download`)).arrayBuffer();
    }, path);
    await until(
      async () => !(await held(owner)).includes(`${server.wake}: ${reason}`),
      30_000,
      "the end of the download",
    );
    await until(
      () => owner.page.evaluate(() => document.activeElement?.tagName === "BUTTON"),
      5_000,
      "the focus to go back to the button",
    );
  });

  test("a form that changes nothing says so at its button", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.sees(settings.hardware);
    assert.ok((await held(owner)).includes(`${settings.save}: ${reasons.unchanged}`));
    await owner.fill(en.create.displayName, "Another name");
    await until(async () => !(await held(owner)).includes(`${settings.save}: ${reasons.unchanged}`));
    await owner.open(addressOf("admin_host", "/servers"));
  });

  test("the theme that somebody chooses beats that of the system, and stays", async () => {
    const { owner, addressOf } = fixture();
    const { page } = owner;
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const choose = (theme: keyof typeof shell.themes) =>
      page.select(`::-p-aria([name="${shell.theme}"][role="combobox"])`, theme);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    await owner.open(addressOf("admin_host", "/servers"));
    const light = await ground();
    await choose("dark");
    await until(async () => (await ground()) !== light);
    await owner.open(addressOf("admin_host", "/account"));
    assert.notEqual(await ground(), light, "another page, loaded anew");
    await choose("system");
    await until(async () => (await ground()) === light);
  });

  test("rows stand closer on demand, in both languages, and stay so", async () => {
    const { owner, addressOf, inspect } = fixture();
    const nodes = addressOf("admin_host", "/admin/nodes");
    await owner.open(nodes);
    // The room of a node comes after the node, and makes its row higher.
    await owner.sees(en.nodes.cordon);
    const nodeBefore = await rowHeight(owner);
    await owner.open(addressOf("admin_host", "/servers"));
    const before = await rowHeight(owner);
    await owner.page.select(`::-p-aria([name="${shell.density}"][role="combobox"])`, "compact");
    await until(async () => (await rowHeight(owner)) < before);
    await inspect(owner, "servers-compact");
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.sees("server.properties");
    assert.equal(await rowHeight(owner), 34);
    await inspect(owner, "files-compact");
    await owner.open(nodes);
    // The room of a node comes after the node, and makes its row higher.
    await owner.sees(en.nodes.cordon);
    assert.ok((await rowHeight(owner)) < nodeBefore);
    await owner.page.evaluate(() => localStorage.setItem("svc.language", "zh-CN"));
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.sees("紧凑");
    await owner.page.evaluate(() => localStorage.removeItem("svc.language"));
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.page.select(`::-p-aria([name="${shell.density}"][role="combobox"])`, "comfortable");
    await until(async () => (await rowHeight(owner)) === before);
    assert.equal(await owner.page.evaluate(() => localStorage.getItem("svc.density")), null);
  });
};
