import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { PodLogOptions } from "../cluster-api.ts";
import type { Pod } from "../controllers/objects.ts";
import type { LogClock } from "./log-clock.ts";
import { startLogClock } from "./log-clock.ts";
import { podPaths } from "./paths.ts";
import { createPodLogs } from "./pod-logs.ts";

const podsDir = mkdtempSync(join(tmpdir(), "svc-logs-"));
after(() => rmSync(podsDir, { recursive: true, force: true }));

let count = 0;

function newRun() {
  count += 1;
  const uid = `pod-${count}`;
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, namespace: "games", uid },
    spec: { containers: [{ name: "c", image: "i" }] },
  };
  const dir = podPaths(podsDir, uid).run("c", 0);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "log"), "");
  const clock = startLogClock(dir, assert.ifError);
  const logs = createPodLogs(podsDir, new Map([[dir, clock]]));
  return {
    dir,
    clock,
    read: (options: PodLogOptions = {}) => logs.read(pod, options, AbortSignal.timeout(10_000)),
  };
}

async function text(parts: AsyncIterable<Buffer>): Promise<string> {
  let all = "";
  for await (const part of parts) all += part.toString("utf8");
  return all;
}

/** Waits until the clock has seen `bytes` bytes. */
async function known(clock: LogClock, bytes: number): Promise<void> {
  for (let extent = clock.extent(); extent.end < bytes; extent = clock.extent()) {
    await clock.changed(extent, AbortSignal.timeout(5000));
  }
}

describe("the log of a container", () => {
  it("is followed line by line until the container ends, including a last line without newline", async () => {
    const { dir, clock, read } = newRun();
    const followed = text(read({ follow: true }));
    appendFileSync(join(dir, "log"), "one\ntw");
    await known(clock, 6);
    appendFileSync(join(dir, "log"), "o\nend");
    await clock.finish();
    assert.equal(await followed, "one\ntwo\nend");
  });

  it("returns the last lines, up to a limit of bytes", async () => {
    const { dir, clock, read } = newRun();
    appendFileSync(join(dir, "log"), "one\ntwo\nthree\n");
    await clock.finish();
    assert.equal(await text(read({ tailLines: 2 })), "two\nthree\n");
    assert.equal(await text(read({ tailLines: 0 })), "");
    assert.equal(await text(read({ limitBytes: 5 })), "one\nt");
  });

  it("has a unique time for each line, and can be read from such a time on", async () => {
    const { dir, clock, read } = newRun();
    appendFileSync(join(dir, "log"), "one\ntwo\n");
    await known(clock, 8);
    appendFileSync(join(dir, "log"), "three\n");
    await clock.finish();
    const lines = (await text(read({ timestamps: true }))).trim().split("\n");
    const times = lines.map((line) => line.split(" ")[0] ?? "");
    assert.deepEqual(
      lines.map((line) => line.split(" ")[1]),
      ["one", "two", "three"],
    );
    assert.deepEqual([...new Set(times)].sort(), times);
    assert.match(times[0] ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
    assert.equal(await text(read({ sinceTime: times[1] ?? "" })), "two\nthree\n");
  });

  it("is rotated after 10 MB, keeps one old file and loses no line between the two", async () => {
    const { dir, clock, read } = newRun();
    const line = (n: number) => `${String(n).padStart(7, "0")} ${"x".repeat(1015)}\n`;
    const total = 12_000;
    let size = 0;
    for (let n = 0; n < total; n += 1000) {
      const block = Array.from({ length: 1000 }, (_, at) => line(n + at)).join("");
      appendFileSync(join(dir, "log"), block);
      size += block.length;
      await known(clock, size);
    }
    await until(() => existsSync(join(dir, "base")));
    appendFileSync(join(dir, "log"), line(total));
    await clock.finish();
    const numbers = (await text(read()))
      .trim()
      .split("\n")
      .map((one) => Number(one.slice(0, 7)));
    assert.equal(numbers.at(-1), total);
    assert.ok(
      numbers.every((one, at) => at === 0 || one === (numbers[at - 1] ?? 0) + 1),
      "lines are consecutive",
    );
    assert.ok(statSync(join(dir, "log")).size < 1024 * 1024);
    assert.ok(statSync(join(dir, "log.1")).size > 10 * 1024 * 1024);
  });

  it("rejects a container that the pod does not have", async () => {
    const { clock, read } = newRun();
    await assert.rejects(text(read({ container: "other" })), /container other is not valid for pod/);
    await assert.rejects(text(read({ previous: true })), /previous terminated container "c" .* not found/);
    await clock.finish();
  });
});
