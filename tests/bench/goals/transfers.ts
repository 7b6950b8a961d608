// G18, G19: parts that are staged and backups that go out, at the data port of storage, against one Fastify process that
// does the same without any promise: ours syncs each part to the disk before it answers and holds the last bytes of a
// download back. The client is the same for both, and reads and writes memory only.

import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaneTicket } from "@svc/proto";
import { request } from "undici";
import type { Arena, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { interleave } from "../harness/numbers.ts";
import type { Row } from "../harness/report.ts";

const partBytes = 32 << 20;
const type = { "content-type": "application/octet-stream" };

type Ends = { ours: Child; bare: Child; base: string; parts: number };

async function seconds(act: () => Promise<unknown>): Promise<{ seconds: number }> {
  const startedAt = performance.now();
  await act();
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

async function put(url: string, bytes: Buffer, headers: Record<string, string> = {}): Promise<void> {
  const { statusCode, body } = await request(url, {
    method: "PUT",
    body: bytes,
    headers: { ...type, ...headers },
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode} ${text}`);
}

async function get(url: string, headers: Record<string, string> = {}): Promise<void> {
  const { statusCode, body } = await request(url, { headers });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  for await (const _ of body);
}

async function uploading(arena: Arena, { ours, bare, parts }: Ends): Promise<Row> {
  const bytes = randomBytes(partBytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const port = await bare.ask<number>("port");
  const each = async (act: (index: number) => Promise<void>) => {
    for (let index = 0; index < parts; index += 1) await act(index);
  };
  const found = await interleave(arena.options.rounds, {
    ours: () =>
      seconds(() =>
        each(async (index) => {
          const part = { offset: index * partBytes, length: partBytes, sha256 };
          const { url, token } = await ours.ask<LaneTicket>("part", part);
          await put(url, bytes, { authorization: `Bearer ${token}` });
        }),
      ).finally(() => ours.ask("clear")),
    bare: () => seconds(() => each((index) => put(`http://127.0.0.1:${port}/files/part-${index}`, bytes))),
  });
  const megabytes = (parts * partBytes) / 1e6;
  return {
    goal: "G18",
    what: "parts of 32 MiB staged, hashed and synced",
    unit: "MB/s",
    ours: megabytes / found.ours.seconds,
    anchor: megabytes / found.bare.seconds,
    anchorName: "Fastify + sha256, not synced",
    limit: { bound: "at least", of: "ratio", goal: 0.9 },
  };
}

async function downloading(arena: Arena, { ours, bare, base, parts }: Ends): Promise<Row> {
  const megabytes = (parts * partBytes) / 1e6;
  await writeFile(join(base, "backup"), randomBytes(parts * partBytes));
  const port = await bare.ask<number>("port");
  const found = await interleave(arena.options.rounds, {
    ours: async () => {
      const { url, token } = await ours.ask<LaneTicket>("download", { file: "backup" });
      return seconds(() => get(url, { authorization: `Bearer ${token}` }));
    },
    bare: () => seconds(() => get(`http://127.0.0.1:${port}/files/backup`)),
  });
  return {
    goal: "G19",
    what: "backup out, last bytes held to the digest",
    unit: "MB/s",
    ours: megabytes / found.ours.seconds,
    anchor: megabytes / found.bare.seconds,
    anchorName: "Fastify 1 MiB + sha256",
    limit: { bound: "at least", of: "ratio", goal: 0.9 },
  };
}

export const transfers: Goal = {
  name: "G18",
  covers: ["G19"],
  title: "parts in and backups out",
  run: async (arena) => {
    const base = await mkdtemp(join(tmpdir(), "svc-bench-transfers-"));
    const about = { logDir: base, env: { BENCH_BASE: base } };
    const [ours, bare] = await Promise.all([
      startChild("ours/transfers.ts", about),
      startChild("anchors/transfers.ts", about),
    ]);
    try {
      const ends = { ours, bare, base, parts: arena.options.isQuick ? 4 : 16 };
      return [await uploading(arena, ends), await downloading(arena, ends)];
    } finally {
      await Promise.all([ours.stop(), bare.stop()]);
      await rm(base, { recursive: true, force: true });
    }
  },
};
