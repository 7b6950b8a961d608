import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { gameVersions } from "@svc/proto/game-version";
import { makeTable } from "./make-table.ts";
import { readTable } from "./table.ts";

for (const [protocol, data, label] of sampleOf(gameVersions, 2)) {
  test(`the table of ${label} is what minecraft-data says; else run libs/minecraft/src/version/write.ts`, () => {
    assert.deepEqual(readTable(protocol), makeTable(protocol, data));
  });
}
