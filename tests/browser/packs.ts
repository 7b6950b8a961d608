import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packs } from "../../services/panel/src/words/en/packs.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import type { Person } from "./person.ts";

const { submissions, review } = packs;
const name = "Sky Block (spring)";

const choose = async ({ page, press }: Person, button: string, path: string) => {
  const [chooser] = await Promise.all([page.waitForFileChooser(), press("button", button)]);
  await chooser.accept([path]);
};

export const addPackTests: Area = (fixture) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-packs-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const packOf = (file: string, motd: string) => {
    const content = join(folder, file);
    mkdirSync(join(content, "mods"), { recursive: true });
    const lines = ["FROM example/server:1", "ADD https://a.example/b.jar /mods/", `ENV MOTD="${motd}"`];
    writeFileSync(join(content, "Dockerfile"), `${lines.join("\n")}\n`);
    writeFileSync(join(content, "mods", "notes.txt"), "one\n");
    const archive = join(folder, `${file}.tar.gz`);
    execFileSync("tar", ["-czf", archive, "-C", content, "."]);
    return archive;
  };

  test("a player submits a pack; what is no archive is not taken", async () => {
    const { player, addressOf, inspect } = fixture();
    const rar = join(folder, "pack.rar");
    writeFileSync(rar, "Rar!");
    await player.open(addressOf("panel_host", "/submissions"));
    await player.sees(submissions.none);
    await inspect(player, "packs-empty");
    await choose(player, submissions.choose, rar);
    await player.sees(submissions.problems["not-archive"](""));
    await choose(player, submissions.choose, packOf("first", "hello"));
    await player.fill(submissions.name, name);
    await player.press("button", submissions.makeAction);
    await player.sees(submissions.stages.inReview);
    await inspect(player, "packs");
  });

  test("staff look at its files, and cannot approve another one than they have seen", async () => {
    const { owner, player, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/admin/submissions"));
    await owner.press("link", name);
    await owner.sees(review.suspicionKinds.remoteAdd);
    await owner.sees(review.first);
    await owner.page.locator("nav button[aria-expanded=false]").click();
    await owner.sees("notes.txt");
    await inspect(owner, "review");
    await choose(player, submissions.replaceOf(isolate(name)), packOf("second", "goodbye"));
    await owner.seesOnReturn(review.stale);
    await inspect(owner, "review-stale");
    const path = new URL(owner.page.url()).pathname;
    await owner.press("button", review.lookAgain);
    await owner.seesNo(review.stale);
    assert.equal(new URL(owner.page.url()).pathname, path);
  });

  test("a rejection needs a reason, which the author reads", async () => {
    const { owner, player, addressOf, inspect } = fixture();
    await owner.press("button", review.reject);
    await owner.fill(review.reason, "Pin the address of b.jar.\nThen submit it again.");
    await inspect(owner, "review-reject");
    await owner.press("button", review.rejectAction);
    await owner.sees(review.rejectedBecause);
    await player.open(addressOf("panel_host", "/submissions"));
    await player.sees(submissions.stages.rejected);
    await player.sees("Then submit it again.");
    await inspect(player, "packs-rejected");
  });

  test("a pack that nobody has reviewed is withdrawn", async () => {
    const { owner, addressOf } = fixture();
    const title = "Second thoughts";
    const made = await owner.request("POST", "/me/submissions", { display_name: title });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await owner.open(addressOf("admin_host", "/submissions"));
    await owner.sees(submissions.stages.noContext);
    await owner.press("button", submissions.withdrawOf(isolate(title)));
    await owner.press("button", submissions.withdrawAction);
    await owner.sees(submissions.withdrawn(isolate(title)));
    await owner.sees(submissions.none);
  });

  test("a pack that is dropped on the page is chosen", async () => {
    const { owner, addressOf } = fixture();
    const bytes = readFileSync(packOf("dropped", "hello")).toString("base64");
    await owner.open(addressOf("admin_host", "/submissions"));
    await owner.sees(submissions.none);
    await owner.page.evaluate((text) => {
      const content = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], "dropped.tar.gz"));
      const event = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
      document.body.dispatchEvent(event);
    }, bytes);
    await owner.sees("dropped.tar.gz");
    await owner.fill(submissions.name, "Dropped");
    await owner.press("button", submissions.makeAction);
    await owner.sees(submissions.stages.inReview);
    await owner.press("button", submissions.withdrawOf(isolate("Dropped")));
    await owner.press("button", submissions.withdrawAction);
    await owner.sees(submissions.none);
  });
};
