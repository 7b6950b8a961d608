// A bucket with copies in packs, as tests look at it.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SealKey } from "@svc/sealed";
import { keyOfArchive, keyOfManifest, keyOfPack, packOfKey } from "../offsite/object-key.ts";
import { packsOf } from "./deduplicated.ts";
import type { Host, OffsiteFixture } from "./offsite-fixture.ts";
import { day, digestOf } from "./storage-stub.ts";

export type PacksFixture = ReturnType<typeof packsIn>;

export function packsIn(fixture: OffsiteFixture) {
  const { s3, storage, archiveDir } = fixture;
  let hosts = 0;
  const rowOf = (id: string) => {
    const row = storage.rows.get(id);
    assert.ok(row);
    return row;
  };
  const packKeysOf = async (id: string) => (await packsOf(archiveDir, rowOf(id).archive)).map(keyOfPack);
  const storedPacks = () => s3.keys().filter((key) => packOfKey(key));
  const recorded = () => [...storage.rows].flatMap(([id, { offsite_at }]) => (offsite_at ? [id] : []));
  const localPath = (key: string) => join(archiveDir, packOfKey(key)?.name ?? "");
  return {
    /** Another host, which sends copies in packs. */
    addHost: (overrides: readonly string[] = []): Host => {
      hosts += 1;
      return fixture.addHost(`host-${hosts}`, ["offsite.packs=true", ...overrides]);
    },
    rowOf,
    packKeysOf,
    storedPacks,
    /** Backups with a record of their copy. */
    recorded,
    /** The file of a pack in the archive folder. */
    localPath,
    manifestOf: (id: string) => keyOfManifest(rowOf(id).archive),
    wholeOf: (id: string) => keyOfArchive(rowOf(id).archive),
    hasObject: (key: string) => s3.keys().includes(key),
    /** Keys of worlds that were put so far. */
    puts: () =>
      s3.requests.flatMap(({ operation, key }) =>
        operation === "put" && key.startsWith("worlds/") ? [key] : [],
      ),
    /** Days of a world: each one has another changed place. */
    addDays: async (ids = ["bk-1", "bk-2"]) => {
      const region = randomBytes(600_000);
      for (const id of ids) {
        await storage.addWorld(id, { "r.0.0.mca": Buffer.from(region), "level.dat": Buffer.from(id) });
        randomBytes(4_096).copy(region, 262_144);
      }
    },
    /** As after a person deleted a backup and its retention has passed. */
    forget: (id: string) => {
      const row = rowOf(id);
      const expires_at = new Date(Date.now() - day).toISOString();
      Object.assign(row, { status: "deleted", expires_at });
      rmSync(join(archiveDir, `${row.archive}.chunks`));
    },
    loseArchives: () => {
      for (const name of readdirSync(archiveDir)) rmSync(join(archiveDir, name));
    },
    /** The object with another byte in its middle. */
    spoiled: (key: string) => {
      const bytes = Buffer.from(s3.bytesOf(key));
      const middle = bytes.length >> 1;
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
      return bytes;
    },
    /** Whole files are here that are what was backed up. */
    assertWhole: (ids: readonly string[]) => {
      for (const id of ids) {
        const bytes = readFileSync(storage.pathOf(id));
        assert.deepEqual([bytes.length, digestOf(bytes)], [rowOf(id).size_bytes, rowOf(id).sha256], id);
      }
    },
    /** What is recorded is there: everything that it names, byte for byte what lies here. */
    assertRecorded: async (keys?: readonly SealKey[]) => {
      for (const id of recorded()) {
        assert.ok(s3.keys().includes(keyOfManifest(rowOf(id).archive)), id);
        for (const key of await packKeysOf(id))
          assert.ok((await fixture.opened(key, keys)).equals(readFileSync(localPath(key))), key);
      }
    },
  };
}
