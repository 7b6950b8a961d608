// What is done with many files at once, and with what a file was before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { fileWork } from "../../services/panel/src/words/en/file-work.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import { type Person, selectorOf, textOfEditor, writeFile } from "./person.ts";

const { files } = en;
const { archive, fetch, history, search } = fileWork;

export const addFileWorkTests: Area = (fixture) => {
  const open = async (query = "") => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", `/servers/survival/files${query}`));
    return owner;
  };
  const write = async (person: Person, path: string, text: string) => {
    const { status, body } = await writeFile(person, { server: "survival", path }, text);
    assert.equal(status, 200, JSON.stringify(body));
  };

  test("a text is searched in names and content, and the address says what", async () => {
    const { inspect } = fixture();
    const owner = await open();
    assert.equal((await owner.request("POST", "/servers/survival/files/mkdir?path=work")).status, 200);
    await write(
      owner,
      "work/towers.yml",
      `height: 12\nowner: Ada <b>\u202eL\u001b[31m\n${"a".repeat(300)}needle`,
    );
    await write(owner, "work/other.txt", "nothing");
    await owner.press("link", files.search);
    await owner.sees(search.help);
    await inspect(owner, "files-search");
    await owner.fill(search.text, "OWNER: ada");
    await owner.page.keyboard.press("Enter");
    await owner.sees(search.found(1));
    await owner.sees("work/towers.yml");
    await owner.sees("owner: Ada <b>[U+202E]L␛[31m");
    await inspect(owner, "files-search-found");
    await owner.page.reload();
    await owner.sees(search.found(1));
    await owner.fill(search.text, "towers");
    await owner.page.select("main search select", "content");
    await owner.press("button", search.action);
    await owner.sees(search.none);
    await inspect(owner, "files-search-none");
    await owner.page.goBack();
    await owner.sees(search.found(1));
    await owner.press("link", "work/towers.yml");
    assert.match(await textOfEditor(owner, files.content(isolate("towers.yml"))), /height: 12/);
  });

  test("files are packed as a zip beside them, and what is taken is refused", async () => {
    const { inspect } = fixture();
    const owner = await open("?path=work");
    await owner.sees("towers.yml");
    await owner.press("button", files.pack);
    await owner.sees(archive.help);
    await owner.page.locator(selectorOf("checkbox", "towers.yml")).click();
    await owner.fill(archive.name, "both.tar");
    await owner.page.keyboard.press("Enter");
    await owner.sees(archive.faults.ending);
    await inspect(owner, "files-pack");
    await owner.page.locator(selectorOf("checkbox", "other.txt")).click();
    await owner.sees(archive.chosen(2));
    await owner.fill(archive.name, "both.zip");
    await owner.page.keyboard.press("Enter");
    await owner.sees(archive.done(isolate("both.zip")));
    await owner.sees("both.zip");
    await owner.page.locator(selectorOf("button", files.more(isolate("towers.yml")))).click();
    await owner.page.locator(selectorOf("menuitem", files.pack)).click();
    await owner.fill(archive.name, "both.zip");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.faults.file_exists);
    await inspect(owner, "files-pack-taken");
    await owner.press("button", en.shell.cancel);
  });

  test("a fetch from an address checks what is typed, and says that an operator has to allow it", async () => {
    const { inspect } = fixture();
    const owner = await open("?path=work");
    await owner.press("button", files.fetch);
    await owner.fill(fetch.url, "repo.example.net/a.jar");
    await owner.page.keyboard.press("Enter");
    await owner.sees(fetch.faults.url);
    await owner.fill(fetch.url, "https://repo.example.net/My%20Plugin.jar");
    await owner.fill(fetch.sha256, "abc");
    await owner.page.keyboard.press("Enter");
    await owner.sees(fetch.faults.sha256);
    await inspect(owner, "files-fetch");
    await owner.fill(fetch.sha256, "ab".repeat(32));
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.faults.fetch_disabled);
    await inspect(owner, "files-fetch-disabled");
    await owner.press("button", en.shell.cancel);
  });

  test("a file is compared with what it was, and the earlier version comes back", async () => {
    const { inspect } = fixture();
    const path = "work/walls.yml";
    const owner = await open();
    await write(owner, path, "a: 1\nb: 2\n");
    await open(`?open=${encodeURIComponent(path)}`);
    await owner.press("link", files.versions);
    await owner.sees(history.none);
    await inspect(owner, "files-history-empty");
    await write(owner, path, "a: 1\nb: 3\n");
    await until(async () => {
      const { body } = await owner.request("GET", `/servers/survival/file/versions?path=${path}`);
      return (body["versions"] as unknown[]).length === 1;
    });
    await open(`?open=${encodeURIComponent(path)}&versions=yes`);
    await owner.sees(history.by.you);
    await inspect(owner, "files-history");
    await owner.press("button", history.compare);
    await owner.sees(history.now);
    assert.match(await textOfEditor(owner, history.earlier), /b: 2/);
    assert.match(await textOfEditor(owner, history.now), /b: 3/);
    await inspect(owner, "files-history-compared");
    await write(owner, path, "a: 1\nb: 4\n");
    await owner.press("button", history.undo);
    await owner.sees(en.faults.file_changed);
    await owner.page.reload();
    await owner.page.locator(selectorOf("button", history.compare)).click();
    await owner.press("button", history.undo);
    await owner.sees(history.undone(isolate("walls.yml")));
    await owner.press("link", history.back);
    assert.match(await textOfEditor(owner, files.content(isolate("walls.yml"))), /b: [23]/);
  });
};
