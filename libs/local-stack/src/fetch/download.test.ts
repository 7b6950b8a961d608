import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { scratchDir } from "../testing/scratch.ts";
import { downloadChecked } from "./download.ts";

test("a file is kept only when its digest is the pinned one", async () => {
  using scratch = scratchDir();
  const server = createServer((request, response) => {
    if (request.url === "/gone") response.writeHead(404).end();
    else response.end("the package");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = join(scratch.path, "file");
  const fetchAs = (name: string, sha256: string) =>
    downloadChecked({ url: `${base}/${name}`, sha256 }, path, new AbortController().signal);
  await assert.rejects(fetchAs("package", "0".repeat(64)), /not the pinned one/);
  await assert.rejects(fetchAs("gone", "0".repeat(64)), /answered 404/);
  assert.ok(!existsSync(path));
  await fetchAs("package", createHash("sha256").update("the package").digest("hex"));
  assert.equal(readFileSync(path, "utf8"), "the package");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
