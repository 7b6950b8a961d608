// What becomes of a pack once it is approved: its build with the log, its scan, and what its author reads.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { packs } from "../../services/panel/src/words/en/packs.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import type { Person } from "./person.ts";

const { submissions, review, builds, scan } = packs;
const name = "Padded islands";
const packages = [
  { name: "left-pad", version: "1.3.0", license: "MIT" },
  { name: "right-pad", version: "2.0.0", license: "Apache-2.0" },
];

/** A pack of two packages that the scanner knows, on the image of `registry`. */
function makePack(folder: string, registry: string): string {
  const content = join(folder, "content");
  for (const one of packages) {
    const place = join(content, "app/node_modules", one.name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify(one));
  }
  writeFileSync(join(content, "Dockerfile"), `FROM ${registry}/svc/demo-server:1.21.4\nCOPY app /app\n`);
  const archive = join(folder, "padded.tar.gz");
  execFileSync("tar", ["-czf", archive, "-C", content, "."]);
  return archive;
}

async function submit({ page, press, fill, sees }: Person, archive: string): Promise<void> {
  await sees(submissions.make);
  const [chooser] = await Promise.all([page.waitForFileChooser(), press("button", submissions.choose)]);
  await chooser.accept([archive]);
  await fill(submissions.name, name);
  await press("button", submissions.makeAction);
  await sees(submissions.stages.inReview);
}

const textOf = ({ page }: Person, selector: string) => page.$eval(selector, (element) => element.textContent);

export const addPackBuildTests: Area = (fixture) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-pack-builds-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let image = "";

  test("an approved pack is built; the page shows its steps and their log", async () => {
    const { stack, owner, player, addressOf, inspect } = fixture();
    const { registry } = stack.file();
    assert.ok(registry, "the stack has no registry");
    await player.open(addressOf("panel_host", "/submissions"));
    await submit(player, makePack(folder, registry.host));
    await owner.open(addressOf("admin_host", "/admin/submissions"));
    await owner.press("link", name);
    await owner.press("button", review.approve);
    await owner.press("button", review.approveAction);
    await owner.press("link", review.toBuild);
    await owner.sees(builds.steps["scan-gate"]);
    await inspect(owner, "build-running");
    const ended = await until(
      async () => {
        const text = await textOf(owner, "main");
        return text.includes(builds.succeededHelp) || text.includes(builds.failed) ? text : undefined;
      },
      // The first scan of a machine fetches the scanner.
      240_000,
      "the build to end",
    );
    assert.ok(ended.includes(builds.succeededHelp), ended);
    image = (await textOf(owner, "h1")).trim();
    await owner.sees(`pushed ${image}`);
    await owner.sees(builds.logStates.ended);
  });

  test("its scan has passed, and the packages of the image can be searched", async () => {
    const { owner, inspect } = fixture();
    await owner.sees(scan.passed(0));
    await owner.press("button", scan.showPackages);
    await owner.sees("left-pad");
    await owner.fill(scan.searchPackages, "apache");
    await owner.seesNo("left-pad");
    await owner.sees("right-pad");
    await inspect(owner, "build");
  });

  test("its author reads the name of the image, which servers may use", async () => {
    const { owner, player, addressOf, inspect } = fixture();
    // Its page of packs was open when the build ended.
    await player.open(addressOf("panel_host", "/"));
    await player.page.evaluate(() => localStorage.removeItem("svc.pack-news"));
    await player.open(addressOf("panel_host", "/"));
    await player.sees(submissions.news.ready(isolate(name)));
    await inspect(player, "overview-pack-news");
    await player.open(addressOf("panel_host", "/submissions"));
    await player.sees(submissions.stages.ready);
    await player.sees(image);
    await inspect(player, "packs-ready");
    await player.open(addressOf("panel_host", "/"));
    await player.seesNo(submissions.news.ready(isolate(name)));
    await owner.open(addressOf("admin_host", "/admin/images"));
    await owner.sees(image);
    await inspect(owner, "images-of-pack");
    await owner.open(addressOf("admin_host", "/admin/builds"));
    await owner.sees(builds.statuses.succeeded);
    await inspect(owner, "builds");
  });
};
