// A player's pack: a world that only it has, settings, and the Dockerfile that puts them on the demo server.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import { connectRcon } from "@svc/rcon";
import { startProcess } from "../../services/demo-server/src/testing/process.ts";

/** Where the world of every pack has its block. */
export const landmark = { x: 3, y: 12, z: 3, block: "diamond_block" } as const;

/** A region file begins with two tables; chunks follow. */
const headerBytes = 8_192;

/** A world made by the demo server itself, with the landmark in it. */
async function makeWorld(dir: string): Promise<string> {
  const { PATH } = process.env;
  await using server = await startProcess(dir, { PATH });
  const { rconPort } = await server.ready();
  await using rcon = await connectRcon({ host: "127.0.0.1", port: rconPort, password: "test" });
  const { x, y, z, block } = landmark;
  await rcon.command(`setblock ${x} ${y} ${z} ${block}`);
  const region = join(dir, "world/region/r.0.0.mca");
  // The command is answered before the block is there.
  await until(
    async () => {
      await rcon.command("save-all flush");
      return (await stat(region)).size > headerBytes;
    },
    20_000,
    "the world to be saved",
  );
  server.child.kill("SIGTERM");
  await server.exited;
  return join(dir, "world");
}

export type Packed = { bytes: Buffer; sha256: string };

export type PackMaker = AsyncDisposable & {
  /** A context as the player's `tar` makes it; `files` lie beside the Dockerfile. */
  pack(dockerfile: string, files: Record<string, string>): Promise<Packed>;
};

export async function startPackMaker(): Promise<PackMaker> {
  const base = await mkdtemp(join(tmpdir(), "svc-pack-"));
  const world = await makeWorld(await mkdtemp(join(base, "server-")));
  return {
    pack: async (dockerfile, files) => {
      const dir = await mkdtemp(join(base, "context-"));
      await cp(world, join(dir, "world"), { recursive: true });
      for (const [name, text] of Object.entries({ ...files, Dockerfile: dockerfile })) {
        await mkdir(join(dir, name, ".."), { recursive: true });
        await writeFile(join(dir, name), text);
      }
      const packed = `${dir}.tar.gz`;
      execFileSync("tar", ["-czf", packed, "-C", dir, "."]);
      const bytes = await readFile(packed);
      return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
    },
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
  };
}
