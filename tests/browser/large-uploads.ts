// Uploads that take long: many files, and one large file through a death of the gateway and a reload of the page.

import assert from "node:assert/strict";
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { many } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import type { Dialog } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";
import type { Person } from "./person.ts";

const { files, uploads } = en;
const fileCount = many(500, 30);
const largeMb = many(1_024, 24);
const longMs = 900_000;

const choose = async ({ page, press }: Person, button: string, path: string) => {
  const [chooser] = await Promise.all([page.waitForFileChooser(), press("button", button)]);
  await chooser.accept([path]);
};

/** Waits for a text that may take minutes. */
async function seesAtLast({ page }: Person, text: string): Promise<void> {
  // biome-ignore lint/performance/useDomNodeTextContent: only what is shown counts
  const isShown = (wanted: string) => document.body.innerText.includes(wanted);
  // One call of the browser may take two minutes at most.
  await until(() => page.evaluate(isShown, text), longMs, text);
}

export const addLargeUploadTests: Area = (fixture) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-large-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test(`a folder of ${fileCount} files is uploaded`, async () => {
    const { owner, addressOf } = fixture();
    const pack = join(folder, "pack");
    for (let at = 0; at < fileCount; at++) {
      const place = join(pack, `part-${at % 5}`);
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, `file-${at}.txt`), `content ${at}`);
    }
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.sees("server.properties");
    await choose(owner, uploads.folder, pack);
    await seesAtLast(owner, uploads.ended(fileCount));
    await owner.open(addressOf("admin_host", "/servers/survival/files?path=pack/part-4"));
    await owner.sees("file-4.txt");
    // The page draws only the rows in sight.
    const { body } = await owner.request("GET", "/servers/survival/files?path=pack/part-4");
    assert.equal((body["entries"] as unknown[]).length, fileCount / 5);
  });

  test(`a file of ${largeMb} MiB goes on after the gateway died and the page was loaded again`, async () => {
    const { owner, stack, addressOf } = fixture();
    const { page } = owner;
    const path = join(folder, "large.bin");
    const handle = openSync(path, "w");
    ftruncateSync(handle, largeMb * 1_048_576);
    closeSync(handle);
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.sees("server.properties");
    // Slow enough that it is under way when something happens to it.
    await page.emulateNetworkConditions({
      download: 4_000_000,
      upload: (largeMb * 1_048_576) / 8,
      latency: 0,
    });
    await choose(owner, uploads.files, path);
    const hasReceived = (share: number) =>
      until(
        () =>
          page.evaluate((wanted: number) => {
            const bar = document.querySelector("section [role=progressbar]");
            return (
              Number(bar?.getAttribute("aria-valuenow")) / Number(bar?.getAttribute("aria-valuemax")) > wanted
            );
          }, share),
        longMs,
        `${share} of the file to be received`,
      );
    await hasReceived(0.2);
    stack.kill("gateway-external");
    await hasReceived(0.5);
    const accept = (dialog: Dialog) => void dialog.accept();
    page.on("dialog", accept);
    await page.reload();
    await seesAtLast(owner, uploads.missing(1));
    page.off("dialog", accept);
    await page.emulateNetworkConditions(null);
    await choose(owner, uploads.choose, path);
    await seesAtLast(owner, uploads.ended(1));
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.sees(largeMb >= 1_024 ? "1 GiB" : `${largeMb} MiB`);
    await owner.sees(files.title);
  });
};
