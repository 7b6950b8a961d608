// A synthetic world that is played day by day, with region files as the game writes them: chunks of random bytes (the game
// packs them with zlib), each in sectors of 4 KiB at the first place that is free, so that a chunk that is saved again moves.

import { createCipheriv } from "node:crypto";
import { closeSync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const sectorBytes = 4_096;
const side = 32;

type PlayedWorld = {
  /** Region files of the overworld. */
  regions: number;
  /** Plays one day; what was saved. */
  play: () => { rewritten: number; added: number };
};

/** Random numbers and bytes that a seed repeats. */
function createRandom(seed: number) {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(seed, 0);
  const cipher = createCipheriv("aes-128-ctr", key, Buffer.alloc(16));
  const bytes = (count: number): Buffer => cipher.update(Buffer.alloc(count));
  const unit = (): number => bytes(4).readUInt32LE(0) / 2 ** 32;
  return { bytes, unit, below: (limit: number) => Math.floor(unit() * limit) };
}

type Random = ReturnType<typeof createRandom>;

/** 2 to 40 KiB, mostly 5 to 9 KiB, as packed chunks are. */
function chunkBytes(random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.unit())) * Math.cos(2 * Math.PI * random.unit());
  return Math.min(40_960, Math.max(2_048, Math.round(6_800 * Math.exp(0.45 * normal))));
}

type Region = { path: string; taken: boolean[]; places: Map<number, { at: number; sectors: number }> };

function saveChunk(region: Region, index: number, { random, now }: { random: Random; now: number }): void {
  const payload = random.bytes(chunkBytes(random));
  const sectors = Math.ceil((payload.length + 5) / sectorBytes);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length + 1, 0);
  head[4] = 2;
  let at = 2;
  // The game takes the new place before it frees the old one.
  while (region.taken.slice(at, at + sectors).some(Boolean)) at += 1;
  for (let sector = at; sector < at + sectors; sector += 1) region.taken[sector] = true;
  const file = openSync(region.path, "r+");
  writeSync(file, Buffer.concat([head, payload]), 0, payload.length + 5, at * sectorBytes);
  const entry = Buffer.alloc(4);
  entry.writeUInt32BE((at << 8) | sectors);
  writeSync(file, entry, 0, 4, index * 4);
  entry.writeUInt32BE(now);
  writeSync(file, entry, 0, 4, sectorBytes + index * 4);
  // The file is padded to whole sectors when it is closed.
  const end = region.taken.length * sectorBytes;
  const last = Buffer.alloc(1);
  if (readSync(file, last, 0, 1, end - 1) === 0) writeSync(file, last, 0, 1, end - 1);
  closeSync(file);
  const before = region.places.get(index);
  if (before) region.taken.fill(false, before.at, before.at + before.sectors);
  region.places.set(index, { at, sectors });
}

function makeRegion(path: string): Region {
  writeFileSync(path, Buffer.alloc(2 * sectorBytes));
  return { path, taken: [true, true], places: new Map() };
}

/**
 * Makes a world of `width` x `width` regions, of which the last row is explored only partly, with plugins, a database of
 * pages and the files of players. Two players a day play at their base and walk to the border and on.
 */
export function makePlayedWorld(root: string, { width, seed }: { width: number; seed: number }): PlayedWorld {
  const random = createRandom(seed);
  let now = 1_750_000_000;
  for (const folder of ["world/region", "world/entities", "world/playerdata", "plugins", "logs"])
    mkdirSync(join(root, folder), { recursive: true });
  for (let index = 0; index < 12; index += 1)
    writeFileSync(
      join(root, "plugins", `plugin-${index}.jar`),
      random.bytes(1_000_000 + random.below(2_000_000)),
    );
  writeFileSync(join(root, "plugins", "blocks.db"), random.bytes(8 << 20));
  const regions = new Map<string, Region>();
  const regionOf = (folder: string, x: number, z: number): Region => {
    const name = `${folder}/r.${x}.${z}.mca`;
    const known = regions.get(name) ?? makeRegion(join(root, "world", name));
    regions.set(name, known);
    return known;
  };
  const edge = width * side;
  const save = (x: number, z: number): boolean => {
    const region = regionOf("region", Math.floor(x / side), Math.floor(z / side));
    const index = (x % side) + (z % side) * side;
    const isKnown = region.places.has(index);
    saveChunk(region, index, { random, now });
    return isKnown;
  };
  for (let x = 0; x < edge; x += 1) for (let z = 0; z < edge; z += 1) save(x, z);

  const bases = [0, 1].map(() => ({ x: random.below(edge - 40) + 20, z: random.below(edge - 40) + 20 }));
  return {
    regions: width * width,
    play: () => {
      const count = { rewritten: 0, added: 0 };
      const saved = (x: number, z: number) => {
        if (x < 0 || z < 0) return;
        if (save(x, z)) count.rewritten += 1;
        else count.added += 1;
      };
      now += 86_400;
      bases.forEach((base, player) => {
        for (let x = -8; x <= 8; x += 1)
          for (let z = -8; z <= 8; z += 1)
            if (x * x + z * z <= 64) {
              saved(base.x + x, base.z + z);
              const far = regionOf(
                "entities",
                Math.floor((base.x + x) / side),
                Math.floor((base.z + z) / side),
              );
              if (random.unit() < 0.3)
                saveChunk(far, ((base.x + x) % side) + ((base.z + z) % side) * side, { random, now });
            }
        // A walk, on which half of the chunks in sight have something that changed.
        let [x, z] = [base.x, base.z];
        const [dx, dz] = [random.unit() - 0.5, random.unit() - 0.5];
        for (let step = 0; step < 24; step += 1) {
          x += 3 * dx;
          z += 3 * dz;
          for (let across = -4; across <= 4; across += 1)
            if (random.unit() < 0.5) saved(Math.floor(x + across * dz * 2), Math.floor(z - across * dx * 2));
        }
        // Land that nobody had seen, at the border.
        const row = random.below(edge - 12);
        for (let new_ = 0; new_ < 60; new_ += 1) saved(row + (new_ % 12), edge + Math.floor(new_ / 12));
        writeFileSync(
          join(root, "world", "playerdata", `${player}.dat`),
          random.bytes(9_000 + random.below(3_000)),
        );
      });
      writeFileSync(join(root, "world", "level.dat"), random.bytes(2_800));
      writeFileSync(join(root, "logs", `${now}.log.gz`), random.bytes(40_000 + random.below(40_000)));
      const pages = openSync(join(root, "plugins", "blocks.db"), "r+");
      for (let page = 0; page < 40; page += 1)
        writeSync(pages, random.bytes(4_096), 0, 4_096, random.below(2_048) * 4_096);
      closeSync(pages);
      return count;
    },
  };
}
