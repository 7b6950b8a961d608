// What a reviewer sees of the next pack of an author whose last one was approved, and what becomes of a build that fails.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { packs } from "../../services/panel/src/words/en/packs.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { otherBuild } from "./build-page.ts";
import type { Area, Fixture } from "./fixture.ts";
import { type Person, selectorOf } from "./person.ts";

const { submissions, review, builds, scan } = packs;
const first = "Mossy caves";
const next = "Mossy caves 2";
const broken = "Mossy caves 3";

/** Submits a pack of these files as its author does. */
async function submit(fixture: Fixture, name: string, files: Record<string, string>): Promise<void> {
  const { player, addressOf } = fixture;
  const folder = mkdtempSync(join(tmpdir(), "svc-pack-changes-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, "content", path)), { recursive: true });
      writeFileSync(join(folder, "content", path), text);
    }
    const archive = join(folder, "pack.tar.gz");
    execFileSync("tar", ["-czf", archive, "-C", join(folder, "content"), "."]);
    await player.open(addressOf("panel_host", "/submissions"));
    await player.sees(submissions.make);
    const choosing = player.press("button", submissions.choose);
    const [chooser] = await Promise.all([player.page.waitForFileChooser(), choosing]);
    await chooser.accept([archive]);
    await player.fill(submissions.name, name);
    await player.press("button", submissions.makeAction);
    await player.sees(submissions.created(isolate(name)));
    await until(() => isInReview(player, name), 60_000, "the pack to be in review");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function isInReview(player: Person, name: string): Promise<boolean> {
  const { body } = await player.request("GET", "/me/submissions");
  const all = body["submissions"] as { display_name: string; context_sha256?: string }[];
  return all.some((one) => one.display_name === name && one.context_sha256 !== undefined);
}

async function openReview({ owner, addressOf }: Fixture, name: string): Promise<void> {
  await owner.open(addressOf("admin_host", "/admin/submissions"));
  await owner.press("link", name);
  await owner.sees(review.contents);
}

async function approve(fixture: Fixture, name: string): Promise<void> {
  const { owner } = fixture;
  await openReview(fixture, name);
  await owner.press("button", review.approve);
  await owner.press("button", review.approveAction);
  await owner.press("link", review.toBuild);
  await owner.sees(builds.steps["scan-gate"]);
}

/** Waits for the end of the build whose page is open; returns its id. */
async function ended({ owner }: Fixture, word: string): Promise<string> {
  const isShown = async () => (await owner.page.$eval("main", (main) => main.textContent)).includes(word);
  await until(isShown, 240_000, `the build to say ${word}`);
  return new URL(owner.page.url()).pathname.split("/").at(-1) ?? "";
}

/** The button of an entry in the list of files. */
const pressEntry = ({ owner }: Fixture, path: string) =>
  owner.page.locator(`nav[aria-label="${review.contents}"] ::-p-text(${path})`).click();

/** The text of an editor is in a shadow root, and no part of what the page says. */
const untilInEditor = ({ page }: Person, text: string, isThere: boolean) =>
  page.waitForFunction(
    (wanted: string, expected: boolean) => {
      const editors = [...document.querySelectorAll("main div")].flatMap(
        ({ shadowRoot }) => shadowRoot ?? [],
      );
      return editors.some(({ textContent }) => textContent?.includes(wanted)) === expected;
    },
    {},
    text,
    isThere,
  );

/** The token of the theme in whose colour an editor draws each of these texts; undefined for what it does not tell apart. */
const tokensOf = ({ page }: Person, texts: readonly string[]) =>
  page.evaluate((wanted: readonly string[]) => {
    const probe = document.body.appendChild(document.createElement("span"));
    const colourOf = (token: string) => {
      probe.style.color = `var(${token})`;
      return getComputedStyle(probe).color;
    };
    const tokens = ["--text", "--muted", "--accent", "--running", "--failed", "--retiring"];
    const byColour = new Map(tokens.map((token) => [colourOf(token), token]));
    probe.remove();
    const roots = [...document.querySelectorAll("main div")].flatMap(({ shadowRoot }) => shadowRoot ?? []);
    const pieces = roots.flatMap((root) => [...root.querySelectorAll(".cm-line, .cm-line span")]);
    return wanted.map((text) => {
      // A word that is a whole line stands inside of it.
      const piece = pieces.findLast(({ textContent }) => textContent === text);
      return piece && byColour.get(getComputedStyle(piece).color);
    });
  }, texts);

/** A package as the scanner finds it. */
const packageFile = (name: string, version: string) => ({
  [`config/node_modules/${name}/package.json`]: JSON.stringify({ name, version, license: "MIT" }),
});

export const addPackChangeTests: Area = (fixture) => {
  let dockerfile = "";
  let built = "";
  let failed = "";
  let repeated = "";

  test("a pack is compared with the author's last approved one, entry by entry", async () => {
    const { stack, owner, inspect } = fixture();
    const from = `FROM ${stack.file().registry?.host}/svc/demo-server:1.21.4`;
    dockerfile = `# Caves with moss.\n${from}\nCOPY config /config\n`;
    const same = { Dockerfile: dockerfile, "config/kept.txt": "as before\n" };
    await submit(fixture(), first, {
      ...same,
      ...{ "config/rules.txt": "pvp=off\n", "config/gone.txt": "old\n" },
      ...{ ...packageFile("left-pad", "1.3.0"), ...packageFile("right-pad", "2.0.0") },
    });
    await approve(fixture(), first);
    built = await ended(fixture(), builds.succeededHelp);
    await submit(fixture(), next, {
      ...same,
      ...{ "config/rules.txt": "pvp=on\n", "config/new.txt": "new\n" },
      ...{ ...packageFile("left-pad", "1.3.1"), ...packageFile("centre-pad", "1.0.0") },
    });
    await openReview(fixture(), next);
    const counts = { added: 2, changed: 2, removed: 2, same: 2 };
    await owner.sees(review.comparedWith(isolate(first), counts));
    // The Dockerfile is what is shown first.
    await owner.sees(review.sameFile);
    await owner.page.select(selectorOf("combobox", review.view), "changes");
    for (const path of ["config/rules.txt", "config/new.txt", "config/gone.txt"]) await owner.sees(path);
    await owner.seesNo("config/kept.txt");
    await inspect(owner, "review-changes");
  });

  test("a changed file is shown beside what it was, and a removed one as it was", async () => {
    const { owner, inspect } = fixture();
    await pressEntry(fixture(), "config/rules.txt");
    for (const text of [review.earlierFile, review.laterFile]) await owner.sees(text);
    for (const text of ["pvp=off", "pvp=on"]) await untilInEditor(owner, text, true);
    await inspect(owner, "review-changed-file");
    await owner.press("checkbox", review.compareFile);
    await untilInEditor(owner, "pvp=off", false);
    await pressEntry(fixture(), "config/gone.txt");
    await owner.sees(review.earlierFile);
    await untilInEditor(owner, "old", true);
    await inspect(owner, "review-removed-file");
  });

  test("the Dockerfile is shown with its words in colours of the theme", async () => {
    const { owner, inspect } = fixture();
    await openReview(fixture(), next);
    await untilInEditor(owner, dockerfile.split("\n")[1] ?? "", true);
    const texts = ["# Caves with moss.", "FROM", "COPY", "COPY config /config"];
    const expected = ["--muted", "--retiring", "--retiring", "--text"];
    assert.deepEqual(await tokensOf(owner, texts), expected);
    await inspect(owner, "review-dockerfile");
  });

  test("packages that came, went or have another version are listed between two builds", async () => {
    const { owner, inspect } = fixture();
    await approve(fixture(), next);
    await ended(fixture(), builds.succeededHelp);
    await owner.sees(scan.compare);
    await owner.page.select(selectorOf("combobox", scan.compareWith), built);
    const label = scan.changedPackages(3);
    await owner.sees(label);
    const rows = await owner.page.$$eval(`table[aria-label="${label}"] tbody tr`, (all) =>
      all.map((row) => [...row.querySelectorAll("td > div")].map(({ textContent }) => textContent)),
    );
    const { added, removed, changed } = scan.changes;
    assert.deepEqual(rows, [
      ["centre-pad", added, "–", "1.0.0"],
      ["left-pad", changed, "1.3.0", "1.3.1"],
      ["right-pad", removed, "2.0.0", "–"],
    ]);
    await inspect(owner, "build-compared");
    const { pathname, search } = new URL(owner.page.url());
    await owner.open(new URL(`${pathname}${search}`, owner.page.url()).href);
    await owner.sees(label);
  });

  test("a build that fails names its step to staff and its cause to the author", async () => {
    const { owner, player, addressOf, inspect } = fixture();
    await submit(fixture(), broken, { Dockerfile: `${dockerfile}COPY missing /missing\n`, "config/a": "a" });
    await approve(fixture(), broken);
    failed = await ended(fixture(), builds.failedAt(builds.steps.build));
    await owner.sees(builds.stepFailures.build);
    await owner.sees("missing");
    await inspect(owner, "build-failed");
    await player.open(addressOf("panel_host", "/submissions"));
    await player.sees(submissions.stages.buildFailed);
    await player.sees(submissions.buildError);
    await inspect(player, "packs-build-failed");
  });

  test("a failed build is repeated from its page, and the pack leads to the new build", async () => {
    const { owner } = fixture();
    await owner.press("button", builds.retry);
    await otherBuild(owner, failed);
    await owner.sees(builds.steps["scan-gate"]);
    repeated = await ended(fixture(), builds.failedAt(builds.steps.build));
    const { body } = await owner.request("GET", `/images/build/${repeated}`);
    assert.deepEqual([body["retry_of"], body["status"]], [failed, "failed"]);
    await openReviewed(fixture(), broken);
    await owner.press("link", review.toBuild);
    await owner.isAt(`/admin/builds/${repeated}`);
  });
};

/** The page of a pack whose review is over. */
async function openReviewed({ owner, addressOf }: Fixture, name: string): Promise<void> {
  await owner.open(addressOf("admin_host", "/admin/submissions?status=approved"));
  await owner.press("link", name);
  await owner.sees(review.approvedBuilt);
}
