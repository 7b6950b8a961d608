import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createBackgroundSync } from "./background-sync.ts";
import { readAhead } from "./read-ahead.ts";
import { writeAll } from "./write-all.ts";

let base: string;
before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-read-ahead-"));
});
after(() => rm(base, { recursive: true }));

test("chunks of all sizes are read back in their order", async () => {
  const chunks = [1, 65_536, 3 << 20, 0, 9 << 20, 70_000, 5].map((size) => randomBytes(size));
  const content = Buffer.concat(chunks);
  await using file = await open(join(base, "file"), "wx+");
  const sync = createBackgroundSync(file);
  for (const chunk of chunks) {
    await writeAll(file, chunk);
    await sync.wrote(chunk.length);
  }
  await sync.finish();
  const read: Buffer[] = [];
  for await (const chunk of readAhead(file, content.length)) read.push(Buffer.from(chunk));
  assert.ok(Buffer.concat(read).equals(content));
});

test("a file that is shorter than told is not sent as if it were whole", async () => {
  await using file = await open(join(base, "short"), "wx+");
  await file.write(Buffer.alloc(3 << 20));
  const reading = async () => {
    for await (const _ of readAhead(file, (3 << 20) + 1));
  };
  await assert.rejects(reading(), /ends after 3145728 of 3145729/);
});

test("a sync that fails is thrown at the latest by the end", async () => {
  const file = await open(join(base, "closed"), "wx");
  await file.close();
  const sync = createBackgroundSync(file);
  await sync.wrote(8 << 20);
  await assert.rejects(sync.finish(), { code: "EBADF" });
});
