import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { makeTar } from "../../../../libs/world/src/testing.ts";
import { serve, testBuild } from "../testing/step.ts";
import { fetchContext } from "./fetch.ts";

const packed = gzipSync(
  makeTar([
    { path: "Dockerfile", content: "FROM scratch\n" },
    { path: "world/", type: "5" },
    { path: "world/level.dat", content: "level" },
    { path: "link", type: "2", link: "world/level.dat" },
    { path: "second", type: "1", link: "world/level.dat" },
    { path: "null", type: "3" },
  ]),
);
const hexOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

describe("the context", () => {
  const fetched = async (bytes: Buffer, digest?: string, status = 200) => {
    const seen: (string | undefined)[] = [];
    const face = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(status).end(bytes);
    });
    const build = await testBuild({ context_url: face.url, ...(digest && { context_digest: digest }) });
    await build.put({ "caller/token": "token\n" });
    return { build, seen, run: () => build.run(fetchContext).finally(() => face[Symbol.asyncDispose]()) };
  };

  test("is fetched with the caller token and unpacked", async () => {
    const { build, seen, run } = await fetched(packed, hexOf(packed));
    await using _ = build;
    await run();
    assert.deepEqual(seen, ["Bearer token"]);
    for (const path of ["world/level.dat", "link", "second"])
      assert.equal(await build.text("context", path), "level");
    assert.match(build.lines.at(-1) ?? "", /unpacked 5 entries, skipped 1 devices/);
  });
  test("with other bytes than those approved fails", async () => {
    const { build, run } = await fetched(packed, "0".repeat(64));
    await using _ = build;
    await assert.rejects(run(), { name: "StepFailure", message: /not 0+ that was approved/ });
  });
  for (const [what, entry, message] of [
    ["that leads out", { path: "../x", content: "x" }, /\.\.\/x is rejected/],
    ["that links out", { path: "x", type: "2", link: "/etc" }, /x is rejected.*leads out/],
  ] as const)
    test(`with an entry ${what} fails by its name`, async () => {
      const { build, run } = await fetched(gzipSync(makeTar([{ path: "Dockerfile", content: "" }, entry])));
      await using _ = build;
      await assert.rejects(run(), { name: "StepFailure", message });
    });
  test("that the face refuses, or that has too many entries, fails", async () => {
    const refused = await fetched(packed, undefined, 404);
    await using one = refused.build;
    await assert.rejects(refused.run(), /answered 404/);
    const large = await fetched(packed);
    await using other = large.build;
    other.task.limits.context_entries = 2;
    await assert.rejects(large.run(), /at most 2 entries/);
    assert.ok(one);
  });
});
