import assert from "node:assert/strict";
import { test } from "node:test";
import { post } from "./post.ts";

test("a host without a route is a delivery that failed, and the process goes on", async () => {
  const sending = {
    ...{ body: "{}", headers: {}, signal: AbortSignal.timeout(10_000), mostBytes: 0 },
    // No machine has a route to it, so the kernel refuses it before anything is sent.
    addresses: [{ address: "255.255.255.255", family: 4 as const }],
  };
  for (const url of ["http://unreachable.example/", "https://unreachable.example/"])
    await assert.rejects(post(new URL(url), sending), { code: "ENETUNREACH" });
});
