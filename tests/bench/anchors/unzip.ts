// A zip extracted by yauzl alone: the names in it are believed, nothing is checked, nothing is synced.

import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import yauzl from "yauzl";
import { serveParent } from "../harness/parent.ts";

async function extract({ base }: { base: string }): Promise<{ seconds: number }> {
  const target = join(base, "yauzl");
  await rm(target, { recursive: true, force: true });
  const startedAt = performance.now();
  const zip = await yauzl.openPromise(join(base, "world.zip"), { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    const path = join(target, entry.fileName);
    await mkdir(entry.fileName.endsWith("/") ? path : dirname(path), { recursive: true });
    if (entry.fileName.endsWith("/")) continue;
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path));
  }
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

serveParent({ extract });
