import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { loadSettings } from "@svc/config";
import { settings as schema } from "../config.ts";
import { digestParts } from "./digest-parts.ts";
import type { StoredUpload } from "./session.ts";

test("a slow volume under a large upload gives signs of life within the patience of its operation", async () => {
  const settings = loadSettings(schema, { overrides: ["storage.file_op_patience=120ms"] });
  const chunk = Buffer.alloc(1_000, 7);
  const sha256 = createHash("sha256").update(chunk).update(chunk).digest("hex");
  const parts = [1, 2].map((n) => ({ size: 2_000, sha256, file: `${n}` }));
  const read = async function* () {
    for (let n = 0; n < 2; n++) {
      await delay(60);
      yield chunk;
    }
  };
  const beats: number[] = [];
  const about = {
    signal: new AbortController().signal,
    onBeat: async () => void beats.push(performance.now()),
  };
  const upload = { id: "0".repeat(32), parts } as unknown as StoredUpload;
  const whole = createHash("sha256");
  for (let n = 0; n < 4; n++) whole.update(chunk);
  assert.equal(
    await digestParts({ settings, staging: { read } as never }, upload, about),
    whole.digest("hex"),
  );
  assert.ok(beats.length >= 3, `${beats.length} signs of life in four slow reads`);
});
