// `node tests/bench/chunking/main.ts [WIDTH] [SEED]`: plays a synthetic world for ten days and says what ten daily backups
// cost where each is cut by a rule and every chunk is stored once (docs/adr/0036-backups-store-content-once.md).

import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { makePlayedWorld } from "./played-world.ts";
import { byName, entries, fastCdc, fixed, type Rule, sectors } from "./rules.ts";

const days = 10;
/** What the list of an archive says of each chunk. */
const listedBytes = 44;
const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };

const cdc = fastCdc(65_536);
const rules: Record<string, Rule> = {
  "whole archives": fixed(4 << 20),
  "FastCDC 16 KiB": fastCdc(16_384),
  "FastCDC 64 KiB": cdc,
  "FastCDC 256 KiB": fastCdc(262_144),
  "fixed 16 KiB": fixed(16_384),
  "fixed 32 KiB": fixed(32_768),
  "fixed 64 KiB": fixed(65_536),
  "fixed 128 KiB, what changed 8 KiB": fixed(131_072),
  "chunk entries + FastCDC 64 KiB": byName(entries, cdc),
  "4 sectors + FastCDC 64 KiB": byName(sectors(4), cdc),
  "8 sectors + FastCDC 64 KiB": byName(sectors(8), cdc),
  "16 sectors + FastCDC 64 KiB": byName(sectors(16), cdc),
  "32 sectors + FastCDC 64 KiB": byName(sectors(32), cdc),
};

/** Where a rule cuts a chunk again when it is new and another backup was there before. */
const againBytes: Record<string, number> = { "fixed 128 KiB, what changed 8 KiB": 8_192 };

type Tally = { seen: Set<string>; stored: number[]; chunks: number; cutSeconds: number; packSeconds: number };

type Taking = { tally: Tally; day: number; again: number | undefined };

function take(taking: Taking, rule: Rule, path: string): void {
  const { tally, day } = taking;
  const bytes = readFileSync(path);
  const startedAt = performance.now();
  const lengths = rule(bytes, path);
  tally.cutSeconds += (performance.now() - startedAt) / 1_000;
  let at = 0;
  for (const length of lengths) {
    if (day === 0) tally.chunks += 1;
    store(taking, bytes.subarray(at, at + length));
    at += length;
  }
  if (at !== bytes.length) throw new Error(`a rule lost ${bytes.length - at} bytes of ${path}`);
}

function store(taking: Taking, chunk: Buffer): void {
  const { tally, day, again } = taking;
  const id = createHash("sha256").update(chunk).digest("base64");
  if (!tally.seen.has(id) && day > 0 && again !== undefined && chunk.length > again) {
    for (let at = 0; at < chunk.length; at += again) store(taking, chunk.subarray(at, at + again));
    return;
  }
  tally.stored[day] = (tally.stored[day] ?? 0) + listedBytes;
  if (tally.seen.has(id)) return;
  tally.seen.add(id);
  const packedAt = performance.now();
  tally.stored[day] = (tally.stored[day] ?? 0) + zstdCompressSync(chunk, { params }).length;
  if (day === 0) tally.packSeconds += (performance.now() - packedAt) / 1_000;
}

const [width = 6, seed = 7] = process.argv.slice(2).map(Number);
const root = mkdtempSync(join(tmpdir(), "svc-chunking-"));
try {
  const world = makePlayedWorld(root, { width, seed });
  const tallies = Object.entries(rules).map(([name, rule]) => {
    const tally: Tally = { seen: new Set(), stored: [], chunks: 0, cutSeconds: 0, packSeconds: 0 };
    return { name, rule, tally };
  });
  for (let day = 0; day < days; day += 1) {
    const played = world.play();
    console.log(
      `day ${day}: ${played.rewritten} chunks saved again, ${played.added} new, of ${world.regions * 1_024}`,
    );
    for (const name of readdirSync(root, { recursive: true, withFileTypes: true }))
      if (name.isFile())
        for (const { name: ruleName, rule, tally } of tallies)
          take({ tally, day, again: againBytes[ruleName] }, rule, join(name.parentPath, name.name));
  }
  const whole = tallies[0]?.tally.stored[0] ?? 0;
  console.log("\n| Rule | Chunks | First | Ten | Cut | Pack |\n|---|---|---|---|---|---|");
  for (const { name, tally } of tallies) {
    const ten = tally.stored.reduce((sum, bytes) => sum + bytes, 0);
    const ratio = (bytes: number) => `${(bytes / whole).toFixed(3)}x`;
    console.log(
      `| ${name} | ${tally.chunks} | ${ratio(tally.stored[0] ?? 0)} | ${ratio(ten)} | ${(tally.cutSeconds / days).toFixed(2)} s | ${tally.packSeconds.toFixed(2)} s |`,
    );
  }
  console.log(`\none whole archive: ${(whole / 1e6).toFixed(0)} MB`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
