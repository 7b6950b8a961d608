import assert from "node:assert/strict";
import { request as plain } from "node:http";
import { request as secure } from "node:https";
import { test } from "node:test";
import { guardedGet, SourceUnavailable } from "./guarded-get.ts";
import { pinnedLookup } from "./pinned-lookup.ts";

// No machine has a route to it, so the kernel refuses it before anything is sent.
const nowhere = { address: "255.255.255.255", family: 4 };

for (const [scheme, request] of Object.entries({ http: plain, https: secure }))
  test(`a request by ${scheme} to an address without a route fails, and the process goes on`, async () => {
    const failed = await new Promise<NodeJS.ErrnoException>((resolve) => {
      const sending = request(`${scheme}://unreachable.example/`, {
        agent: false,
        lookup: pinnedLookup([nowhere]),
      });
      sending.on("error", resolve).end();
    });
    assert.equal(failed.code, "ENETUNREACH");
  });

test("a download from an address without a route can be tried again", async () => {
  const getting = {
    judge: (address: string) => ({ url: new URL(address), isInside: false }),
    ...{ userAgent: "test", mostRedirects: 0, stallMs: 5_000, signal: AbortSignal.timeout(10_000) },
    network: { resolve: async () => [nowhere], isPublic: () => true, ca: "" },
  };
  await assert.rejects(guardedGet("https://unreachable.example/a.jar", getting), (error: Error) => {
    assert.ok(error instanceof SourceUnavailable, String(error));
    assert.match(error.message, /^unreachable\.example: connect ENETUNREACH/);
    return true;
  });
});
