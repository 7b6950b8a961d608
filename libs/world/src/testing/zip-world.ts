import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Folder } from "../path/folder.ts";
import { unzip } from "../zip/unzip.ts";

/** A world with protected and other files, and a folder beside it that no zip may reach. */
export type ZipWorld = AsyncDisposable & {
  world: Folder;
  /** The path of something in the temporary folder that holds `world` and `outside`. */
  at: (...names: string[]) => string;
  text: (...names: string[]) => Promise<string>;
  put: (zip: Buffer, path?: string) => Promise<void>;
  extract: (overwrite?: boolean, path?: string) => ReturnType<typeof unzip>;
};

export async function openZipWorld(): Promise<ZipWorld> {
  const base = await mkdtemp(join(tmpdir(), "svc-unzip-"));
  const at = (...names: string[]) => join(base, ...names);
  await mkdir(at("world", "config"), { recursive: true });
  await mkdir(at("world", "packs", "kept"), { recursive: true });
  await mkdir(at("outside"));
  await writeFile(at("world", "server.properties"), "motd=hi\n");
  await writeFile(at("world", "config", "paper-global.yml"), "secret");
  await writeFile(at("world", "packs", "old.txt"), "old");
  await writeFile(at("world", "packs", "kept", "k.txt"), "kept");
  const world = await Folder.openRoot(at("world"));
  return {
    world,
    at,
    text: (...names) => readFile(at("world", ...names), "utf8"),
    put: (zip, path = "packs/p.zip") => writeFile(at("world", path), zip),
    extract: (overwrite = false, path = "packs/p.zip") => unzip({ world, path, overwrite }),
    [Symbol.asyncDispose]: async () => {
      await world.close();
      await rm(base, { recursive: true });
    },
  };
}
