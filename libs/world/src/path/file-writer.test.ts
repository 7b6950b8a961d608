import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createFileWriter } from "./file-writer.ts";
import { readAhead } from "./read-ahead.ts";

let base: string;
before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-writer-"));
});
after(() => rm(base, { recursive: true }));

test("chunks of all sizes are in the file in their order, and their memory is freed", async () => {
  const sizes = [1, 65_536, 3 << 20, 0, 9 << 20, 70_000, 5];
  const chunks = sizes.map((size) => randomBytes(size));
  const content = Buffer.concat(chunks);
  {
    await using file = await open(join(base, "file"), "wx");
    const writer = createFileWriter(file);
    for (const chunk of chunks) if (!writer.write(chunk)) await writer.flush();
    await writer.finish();
  }
  assert.ok((await readFile(join(base, "file"))).equals(content));
  assert.deepEqual(
    chunks.filter(({ length }) => length >= 65_536),
    [],
    "no large chunk keeps its memory",
  );
  await using file = await open(join(base, "file"));
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

test("a write that fails is thrown at the latest by the end", async () => {
  const file = await open(join(base, "file"), "r");
  const writer = createFileWriter(file);
  writer.write(randomBytes(2 << 20));
  await assert.rejects(
    async () => {
      await writer.flush();
      await writer.finish();
    },
    { code: "EBADF" },
  );
  await file.close();
});
