// G18, G19: parts that are staged and backups that go out, at the data port of storage, against one Fastify process that
// does the same without any promise: ours syncs each part to the disk before it answers and holds the last bytes of a
// download back. The client is the same for all, and reads and writes memory only. nginx, which neither hashes nor syncs,
// is beside them where it is installed; a plain file comes the same way as a backup, with a digest of its own.

import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ByteTransferTicket } from "@svc/proto";
import { request } from "undici";
import type { Bench, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { type Nginx, startNginx } from "../harness/nginx.ts";
import type { Memory } from "../harness/parent.ts";
import type { Limit, Row } from "../harness/report.ts";
import { interleaveSamples, pairedRates } from "../harness/statistics.ts";

const execute = promisify(execFile);
const partBytes = 32 << 20;
const type = { "content-type": "application/octet-stream" };

type Ends = { ours: Child; bare: Child; nginx: Nginx | undefined; base: string; parts: number };

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
  if (statusCode >= 300) throw new Error(`${url} answered ${statusCode} ${text}`);
}

async function get(url: string, headers: Record<string, string> = {}): Promise<void> {
  const { statusCode, body } = await request(url, { headers });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  for await (const _ of body);
}

function atLeast(goal: number, stretch?: number): Limit {
  return { bound: "at least", of: "ratio", goal, ...(stretch !== undefined && { stretch }) };
}

type Against = { anchorName: string; took: { seconds: number }[] | undefined; limit: Limit };

type Ours = { goal: string; what: string; megabytes: number; took: { seconds: number }[] | undefined };

/** The same figure beside each anchor that is there. */
function against({ megabytes, took: ours = [], ...row }: Ours, anchors: readonly Against[]): Row[] {
  return anchors.flatMap(({ took: anchor, ...about }) =>
    anchor ? [{ ...row, ...about, unit: "MB/s", ...pairedRates(megabytes, { ours, anchor }) }] : [],
  );
}

async function uploading(bench: Bench, { ours, bare, nginx, base, parts }: Ends): Promise<Row[]> {
  const bytes = randomBytes(partBytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const port = await bare.ask<number>("port");
  const each = async (act: (index: number) => Promise<void>) => {
    for (let index = 0; index < parts; index += 1) await act(index);
  };
  const putNginx = (index: number) => put(`${nginx?.url}/nginx-part-${index}`, bytes);
  const found = await interleaveSamples<string, { seconds: number }>(bench.options.rounds, {
    ours: () =>
      seconds(() =>
        each(async (index) => {
          const part = { offset: index * partBytes, length: partBytes, sha256 };
          const { url, token } = await ours.ask<ByteTransferTicket>("part", part);
          await put(url, bytes, { authorization: `Bearer ${token}` });
        }),
      ).finally(() => ours.ask("clear")),
    bare: () => seconds(() => each((index) => put(`http://127.0.0.1:${port}/files/part-${index}`, bytes))),
    ...(nginx && {
      nginx: () => seconds(() => each(putNginx)),
      hashed: () =>
        seconds(() =>
          each(async (index) => {
            await putNginx(index);
            await execute("sha256sum", [join(base, `nginx-part-${index}`)]);
          }),
        ),
    }),
  });
  const megabytes = (parts * partBytes) / 1e6;
  const row = {
    goal: "G18",
    what: "parts of 32 MiB staged, hashed and synced",
    megabytes,
    took: found["ours"],
  };
  return against(row, [
    { anchorName: "Fastify + sha256, not synced", took: found["bare"], limit: atLeast(0.9) },
    { anchorName: "nginx PUT", took: found["nginx"], limit: atLeast(0.3, 0.5) },
    { anchorName: "nginx PUT, then sha256sum", took: found["hashed"], limit: atLeast(1) },
  ]);
}

async function downloading(bench: Bench, { ours, bare, nginx, base, parts }: Ends): Promise<Row[]> {
  const megabytes = (parts * partBytes) / 1e6;
  await writeFile(join(base, "backup"), randomBytes(parts * partBytes));
  const port = await bare.ask<number>("port");
  const fromUs = async (isPlain: boolean) => {
    const { url, token } = await ours.ask<ByteTransferTicket>("download", { file: "backup", isPlain });
    return seconds(() => get(url, { authorization: `Bearer ${token}` }));
  };
  const found = await interleaveSamples<string, { seconds: number }>(bench.options.rounds, {
    ours: () => fromUs(false),
    plain: () => fromUs(true),
    bare: () => seconds(() => get(`http://127.0.0.1:${port}/files/backup`)),
    ...(nginx && { nginx: () => seconds(() => get(`${nginx.url}/backup`)) }),
  });
  const row = (what: string, took: { seconds: number }[] | undefined) => ({
    goal: "G19",
    what,
    megabytes,
    took,
  });
  const sendfile = { anchorName: "nginx sendfile", took: found["nginx"] };
  return [
    ...against(row("backup out, last bytes held to the digest", found["ours"]), [
      { anchorName: "Fastify 1 MiB + sha256", took: found["bare"], limit: atLeast(0.9) },
      { ...sendfile, limit: atLeast(0.28) },
    ]),
    ...against(row("plain file out", found["plain"]), [{ ...sendfile, limit: atLeast(0.5) }]),
  ];
}

async function memory({ ours }: Ends, idleMb: number): Promise<Row> {
  const { peakMb } = await ours.ask<Memory>("memory");
  return {
    goal: "MEM",
    what: "growth of the data port over all of it, at its peak",
    unit: "MB",
    ours: peakMb - idleMb,
    limit: { bound: "at most", of: "figure", goal: 150 },
  };
}

export const transfers: Goal = {
  name: "G18",
  covers: ["G19", "MEM"],
  title: "parts in and backups out",
  run: async (bench) => {
    const base = await mkdtemp(join(tmpdir(), "svc-bench-transfers-"));
    const about = { logDir: base, env: { BENCH_BASE: base } };
    const [ours, bare] = await Promise.all([
      startChild("subjects/transfers.ts", about),
      startChild("anchors/transfers.ts", about),
    ]);
    const nginx = await startNginx(base);
    if (!nginx)
      bench.say("nginx with PUT is not installed: its rows are left out (apt-get install nginx-light)");
    try {
      const ends = { ours, bare, nginx, base, parts: bench.options.isQuick ? 4 : 32 };
      const { nowMb } = await ours.ask<Memory>("memory");
      return [
        ...(await uploading(bench, ends)),
        ...(await downloading(bench, ends)),
        await memory(ends, nowMb),
      ];
    } finally {
      await Promise.all([ours.stop(), bare.stop(), nginx?.stop()]);
      await rm(base, { recursive: true, force: true });
    }
  },
};
