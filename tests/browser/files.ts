import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { wholeOnly } from "@svc/config/testing";
import type { Dialog } from "puppeteer-core";
import { makeZip } from "../../libs/world/src/testing/zip.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { behindEdge, type Passing } from "./edge.ts";
import type { Area } from "./fixture.ts";
import { type Person, writeFile } from "./person.ts";

const { files, uploads } = en;

export const addFileTests: Area = (fixture) => {
  const open = async (search = "") => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", `/servers/survival/files${search}`));
    return owner;
  };
  const more = async ({ page }: Person, name: string, word: string) => {
    const select = (aria: string, role: string) =>
      `::-p-aria([name=${JSON.stringify(aria)}][role="${role}"])`;
    await page.locator(select(files.more(isolate(name)), "button")).click();
    await page.locator(select(word, "menuitem")).click();
  };
  const type = async (person: Person, name: string, text: string) => {
    const editor = `::-p-aria([name=${JSON.stringify(files.content(isolate(name)))}][role="textbox"])`;
    await person.page.locator(editor).click();
    await person.page.keyboard.type(text);
  };
  const writeElsewhere = async (person: Person, path: string, text: string) => {
    const { status, body } = await writeFile(person, { server: "survival", path }, text);
    assert.equal(status, 200, JSON.stringify(body));
  };

  test("a folder and a file are made, and the text is saved", async () => {
    const { inspect } = fixture();
    const owner = await open();
    await owner.sees("server.properties");
    await inspect(owner, "files");
    await owner.press("button", files.newFolder);
    await owner.fill(files.newFolderName, "a/b");
    await owner.page.keyboard.press("Enter");
    await owner.sees(files.badName);
    await inspect(owner, "files-new-folder");
    await owner.fill(files.newFolderName, "notes");
    await owner.page.keyboard.press("Enter");
    await owner.press("link", "notes");
    await owner.sees(files.empty);
    await inspect(owner, "files-empty");
    await owner.press("button", files.newFile);
    await owner.fill(files.newFileName, "plan 世界.yml");
    await owner.page.keyboard.press("Enter");
    await owner.press("link", "plan 世界.yml");
    await type(owner, "plan 世界.yml", "towers: 4\nwalls: high\n");
    await owner.sees(files.unsaved);
    await inspect(owner, "files-editor");
    await owner.press("button", files.save);
    await owner.sees(files.saved(isolate("plan 世界.yml")));
    await owner.press("link", files.back);
    await owner.sees("22 B");
  });

  test(
    "unsaved text is not lost by a link, and a change by somebody else is compared",
    wholeOnly,
    async () => {
      const { inspect } = fixture();
      const path = "notes/plan 世界.yml";
      const owner = await open(`?open=${encodeURIComponent(path)}`);
      await type(owner, "plan 世界.yml", "mine: 1\n");
      await owner.press("link", en.shell.servers);
      await owner.sees(en.leaving.help);
      await owner.press("button", en.shell.cancel);
      await writeElsewhere(owner, path, "towers: 5\nwalls: high\n");
      await owner.press("button", files.save);
      await owner.sees(files.conflict);
      await inspect(owner, "files-conflict");
      await owner.press("button", files.keepMine);
      await owner.sees(files.saved(isolate("plan 世界.yml")));
      await open("?path=notes");
      await owner.sees("30 B");
    },
  );

  test("what the platform writes itself, and what is no text, is not edited", async () => {
    const { inspect } = fixture();
    const owner = await open("?open=server.properties");
    await owner.sees(files.readOnlyMasked);
    await inspect(owner, "files-read-only");
  });

  test("a file is moved, and a folder with content is deleted by its name only", wholeOnly, async () => {
    const { inspect } = fixture();
    const owner = await open("?path=notes");
    await more(owner, "plan 世界.yml", files.rename);
    await owner.fill(files.renameField, "notes/old.yml");
    await inspect(owner, "files-rename");
    await owner.page.keyboard.press("Enter");
    await owner.sees(files.renamed(isolate("notes/old.yml")));
    await owner.press("link", files.root);
    await more(owner, "notes", files.remove);
    await inspect(owner, "files-delete");
    await owner.page.locator('input[name="confirm"]').fill("notes");
    await owner.press("button", files.removeFolder);
    await owner.sees(files.removed(isolate("notes")));
    await open("?path=notes");
    await owner.sees(files.gone);
  });

  const folder = mkdtempSync(join(tmpdir(), "svc-uploads-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const fileOf = (name: string, bytes: number) => {
    writeFileSync(join(folder, name), Buffer.alloc(bytes, name));
    return join(folder, name);
  };
  const choose = async (person: Person, button: string, paths: string[]) => {
    const [chooser] = await Promise.all([person.page.waitForFileChooser(), person.press("button", button)]);
    await chooser.accept(paths);
  };

  test("files are uploaded whole and in parts; those that exist are asked for once", async () => {
    const { inspect } = fixture();
    const owner = await open();
    await owner.press("button", files.newFolder);
    await owner.fill(files.newFolderName, "uploads");
    await owner.page.keyboard.press("Enter");
    await owner.press("link", "uploads");
    await owner.sees(files.empty);
    const paths = [fileOf("empty.txt", 0), fileOf("small.txt", 100), fileOf("large.bin", 5 * 1_048_576)];
    await choose(owner, uploads.files, paths);
    await owner.sees(uploads.ended(3));
    for (const size of ["0 B", "100 B", "5 MiB"]) await owner.sees(size);
    fileOf("small.txt", 200);
    await choose(owner, uploads.files, paths.slice(0, 2));
    await owner.sees(uploads.exists(2));
    await owner.press("button", uploads.details);
    await inspect(owner, "files-upload-exists");
    await owner.press("button", uploads.replaceAll);
    await owner.sees(uploads.ended(2));
    await owner.sees("200 B");
  });

  test("an upload survives a break and a reload", wholeOnly, async () => {
    const { inspect, addressOf, owner } = fixture();
    const { edge, person, leave } = await behindEdge(fixture(), owner);
    await person.open(addressOf("admin_host", "/servers/survival/files?path=uploads"));
    await person.sees("small.txt");
    const { page } = person;
    const path = fileOf("broken.bin", 6 * 1_048_576);
    const isPart = (passing: Passing) => passing.method === "PUT" && passing.path.includes("/files/uploads/");
    edge.set((passing) => (isPart(passing) ? { kind: "cut" } : undefined));
    await choose(person, uploads.files, [path]);
    await person.sees(en.faults.offline);
    await inspect(person, "files-upload-broken");
    const accept = (dialog: Dialog) => void dialog.accept();
    page.on("dialog", accept);
    await page.reload();
    await person.sees(uploads.missing(1));
    page.off("dialog", accept);
    await inspect(person, "files-upload-missing");
    edge.clear();
    await choose(person, uploads.choose, [fileOf("other.bin", 10)]);
    await person.sees(uploads.missingOther);
    await choose(person, uploads.choose, [path]);
    await person.sees(uploads.ended(1));
    await person.sees("6 MiB");
    await leave();
  });

  test("a file that is dropped on the page is uploaded, and never opened", async () => {
    const owner = await open("?path=uploads");
    await owner.sees("small.txt");
    const isKept = await owner.page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["dropped"], "dropped.txt"));
      const event = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
      document.body.dispatchEvent(event);
      return event.defaultPrevented;
    });
    assert.ok(isKept, "the browser would have opened the file");
    await owner.sees("dropped.txt");
    const kept = await owner.page.evaluate(() => Object.keys(localStorage).join());
    assert.ok(!kept.includes("svc.uploads"), kept);
  });

  test(
    "a zip is extracted; what it would replace and what is protected is asked for",
    wholeOnly,
    async () => {
      const { inspect } = fixture();
      const owner = await open("?path=uploads");
      await owner.sees("small.txt");
      const pack = join(folder, "pack.zip");
      const content = [
        { name: "small.txt", content: "from the pack" },
        { name: "inner/new.txt", content: "x" },
      ];
      writeFileSync(pack, makeZip(content));
      await choose(owner, uploads.files, [pack]);
      await owner.sees(uploads.ended(1));
      await more(owner, "pack.zip", files.unzip);
      await owner.sees(files.unzipAsks.replace(isolate("pack.zip")));
      await inspect(owner, "files-unzip-conflict");
      await owner.press("button", files.unzipChoices.replace);
      await owner.sees(files.unzipped(isolate("pack.zip"), 2));
      await owner.sees("13 B");
      await owner.sees("inner");
    },
  );
};
