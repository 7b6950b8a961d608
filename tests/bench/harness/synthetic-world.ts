// A synthetic world and the tools of the machine that pack and unpack it.

import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Bench } from "./bench.ts";
import { type Child, startChild } from "./child.ts";
import type { Memory } from "./parent.ts";

/** Packed chunks beside headers and text: zstd takes about a third off. */
function content(bytes: number): Buffer {
  const block = randomBytes(16_384);
  const whole = Buffer.alloc(bytes, "minecraft:stone ");
  for (let at = 0; at < bytes * 0.62; at += block.length) {
    block.writeUInt32LE(Math.floor(Math.random() * 2 ** 32), 0);
    randomBytes(block.length).copy(whole, at);
  }
  return whole;
}

export type WorldArena = {
  base: string;
  megabytes: number;
  /** Runs a command of ours in the process that is there for it. */
  ours: <T>(command: string, argument?: object) => Promise<T>;
  /** As `ours`, in a process of the bench that is bare. */
  bare: <T>(file: string, command: string) => Promise<T>;
  /** How much each process of ours grew since it began, in MB at its peak. */
  growth: () => Promise<Record<string, number>>;
  /** Seconds that a shell command takes in `base`, where `without` is gone and what came before is on the disk. */
  shell: (command: string, without?: string) => Promise<{ seconds: number }>;
  /** What `shell` says of `tar | zstd` with the digest taken in this process. */
  piped: (command: string, to: string) => Promise<{ seconds: number }>;
  stop: () => Promise<void>;
};

/** What one command leaves unwritten is not paid for by the next. */
const settle = "sync --file-system .";

/** About 1,080 MB in 3,238 files, 70 % of it in region files; a tenth of it when quick. */
export async function startWorldArena(bench: Bench): Promise<WorldArena> {
  const base = await mkdtemp(join(tmpdir(), "svc-bench-world-"));
  const share = bench.options.isQuick ? 0.1 : 1;
  const regions = Math.round(190 * share);
  const small = Math.round(3_048 * share);
  await mkdir(join(base, "world", "region"), { recursive: true });
  for (let index = 0; index < regions; index += 1)
    await writeFile(join(base, "world", "region", `r.${index}.0.mca`), content(4_000_000));
  for (let index = 0; index < small; index += 1) {
    const folder = join(base, "world", "data", `d${index % 40}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `f${index}.dat`), content(106_000));
  }
  await writeFile(join(base, "world", "region", "one.bin"), content(1_000_000));
  const children = createChildren(base);
  return {
    base,
    megabytes: (regions * 4_000_000 + small * 106_000 + 1_000_000) / 1e6,
    ours: async (command, argument = {}) => {
      const child = await children.get("subjects/world.ts", command);
      await run(settle, base);
      return await child.ask(command, { base, ...argument });
    },
    bare: async (file, command) => (await children.get(file, "")).ask(command, { base }),
    growth: children.growth,
    shell: async (command, without) => {
      if (without !== undefined) await rm(join(base, without), { recursive: true, force: true });
      await run(settle, base);
      return await run(command, base);
    },
    piped: async (command, to) => {
      await rm(join(base, to), { force: true });
      await run(settle, base);
      return await runPiped(command, { base, to });
    },
    stop: async () => {
      await children.stop();
      await rm(base, { recursive: true, force: true });
    },
  };
}

/** One process for each thing that is done, so that what one of them needs is seen by itself. */
function createChildren(base: string) {
  const started = new Map<string, { child: Child; task: string; idleMb: number }>();
  return {
    get: async (file: string, task: string): Promise<Child> => {
      const known = started.get(`${file} ${task}`);
      if (known) return known.child;
      const child = await startChild(file, { logDir: base });
      const { nowMb: idleMb } = await child.ask<Memory>("memory");
      started.set(`${file} ${task}`, { child, task, idleMb });
      return child;
    },
    growth: async (): Promise<Record<string, number>> => {
      const received: Record<string, number> = {};
      for (const { child, task, idleMb } of started.values())
        if (task !== "") received[task] = (await child.ask<Memory>("memory")).peakMb - idleMb;
      return received;
    },
    stop: async () => {
      for (const { child } of started.values()) await child.stop();
    },
  };
}

async function run(command: string, base: string): Promise<{ seconds: number }> {
  const startedAt = performance.now();
  const child = spawn("bash", ["-o", "pipefail", "-c", command], { cwd: base, stdio: "ignore" });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

async function runPiped(command: string, { base, to }: { base: string; to: string }) {
  const startedAt = performance.now();
  const child = spawn("bash", ["-o", "pipefail", "-c", command], {
    cwd: base,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const closed = once(child, "close");
  const hash = createHash("sha256");
  await pipeline(
    child.stdout,
    async function* (chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk as Buffer);
        yield chunk as Buffer;
      }
    },
    createWriteStream(join(base, to), { highWaterMark: 1 << 20 }),
  );
  const [code] = await closed;
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return { seconds: (performance.now() - startedAt) / 1_000 };
}
