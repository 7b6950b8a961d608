// Adds, replaces and removes plugins together with what is recorded of them, all or nothing (docs/reference/plugins.md#install).

import type { PluginLoader, PluginRecord, PluginRecords } from "@svc/proto/world-task";
import { WorldFault } from "../fault.ts";
import { createFileWriter } from "../path/file-writer.ts";
import { dress, explain, type Folder, setFolderAttributes } from "../path/folder.ts";
import { parseTarget } from "../path/parse.ts";
import { assertWritable, findProtected } from "../path/protect.ts";
import { assertRoom, roundUp } from "../restore/restore.ts";
import { StagingTree } from "../swap/staging-tree.ts";
import { switchOver, unchanged } from "../swap/switch.ts";
import { assertJar } from "./jar.ts";
import { digestFile, pluginFolders } from "./list.ts";
import { readRecords, recordFolder, recordName } from "./record.ts";

type Put = { record: PluginRecord; expect: string | null };
type Drop = { path: string; expect: string | null };

type InstallPlan = {
  put: readonly Put[];
  drop: readonly Drop[];
  /** Of the files of `put`, in bytes; `content` has one after the other. */
  sizes: readonly number[];
  content: AsyncIterable<Buffer>;
  loader?: PluginLoader | undefined;
  game_version?: string | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
  signal: AbortSignal;
};

/**
 * Throws `file_exists` and `file_changed` when a file is not as expected, `digest_mismatch`, `archive_invalid` for what is no plugin,
 * `bad_path`, `volume_full`, all with the world unchanged.
 */
export async function installPlugins(world: Folder, plan: InstallPlan): Promise<void> {
  await assertExpected(world, plan);
  await assertRoom(
    world,
    plan.sizes.reduce((sum, size) => sum + roundUp(size), 65_536),
  );
  const stage = await StagingTree.make(world, "install").catch((error: unknown) => {
    throw unchanged(explain(error, "the volume"));
  });
  await using _ = stage;
  try {
    await fill(stage, world, plan);
    const remove = plan.drop.filter(({ expect }) => expect !== null).map(({ path }) => path.split("/"));
    await switchOver(stage, { kind: "merge", at: [], remove });
  } catch (error) {
    if ((error as Error).name !== "SwitchIncomplete") await stage.remove().catch(() => undefined);
    throw unchanged(explain(error, "the volume"));
  }
  await stage.remove();
}

async function assertExpected(world: Folder, { put, drop }: InstallPlan): Promise<void> {
  const known = await findProtected(world);
  const all = [
    ...put.map(({ record, expect }) => ({ path: record.path, expect, isPut: true })),
    ...drop.map((one) => ({ ...one, isPut: false })),
  ];
  for (const { path, expect, isPut } of all) {
    const { parents, name } = parseTarget(path);
    const isPlace = parents.length === 1 && (pluginFolders as readonly string[]).includes(parents[0] ?? "");
    if (!isPlace) throw new WorldFault("bad_path", `${path} is no file of plugins or mods.`);
    const folder = await world.descend(parents).catch(() => undefined);
    await using _folder = folder;
    const there = await folder?.find(name);
    assertWritable(known, [...parents, name], there);
    if (there && expect === null && !isPut)
      throw new WorldFault("file_changed", `${path} is there; nothing was changed. Look again.`, {
        entry: path,
      });
    if (there && expect === null)
      throw new WorldFault("file_exists", `${path} is there already; nothing was changed.`, { entry: path });
    if (expect === null) continue;
    const now = folder && there ? await digestFile(folder, name) : undefined;
    if (now?.sha256 === expect) continue;
    throw new WorldFault(
      "file_changed",
      `${path} is not as it was listed; nothing was changed. Look again.`,
      {
        entry: path,
      },
    );
  }
}

async function fill(stage: StagingTree, world: Folder, plan: InstallPlan): Promise<void> {
  const owner = await world.stat();
  const pieces = createPieces(plan.content);
  const total = plan.sizes.reduce((sum, size) => sum + size, 0);
  let before = 0;
  for (const [index, { record }] of plan.put.entries()) {
    const size = plan.sizes[index] ?? 0;
    const [folderName = "", name = ""] = record.path.split("/");
    await using folder = await makeFolder(stage.fresh, folderName, world);
    {
      await using file = await folder.createFile(name, 0o600);
      const writer = createFileWriter(file);
      for await (const piece of pieces.take(size)) {
        plan.signal.throwIfAborted();
        if (!writer.write(piece)) await writer.flush();
      }
      await writer.finish();
      await dress(file, { mode: 0o644, owner });
    }
    await assertArrived(folder, { name, record });
    before += size;
    plan.onProgress?.(before, total);
  }
  await pieces.end();
  await using folder = await makeFolder(stage.fresh, recordFolder, world);
  await using file = await folder.createFile(recordName, 0o600);
  await file.writeFile(JSON.stringify(next(await readRecords(world), plan), undefined, 1));
  await dress(file, { mode: 0o644, owner });
}

async function assertArrived(folder: Folder, { name, record }: { name: string; record: PluginRecord }) {
  const arrived = await digestFile(folder, name);
  if (arrived?.sha256 !== record.sha256)
    throw new WorldFault("digest_mismatch", `${record.path} did not arrive as it was downloaded; try again.`);
  await using file = await folder.openFile(name);
  await assertJar(file, record.path);
}

/** What is recorded afterwards. Pure. */
function next(now: PluginRecords, { put, drop, loader, game_version }: InstallPlan): PluginRecords {
  const gone = new Set([...drop.map(({ path }) => path), ...put.map(({ record }) => record.path)]);
  const plugins = [...now.plugins.filter(({ path }) => !gone.has(path)), ...put.map(({ record }) => record)];
  return {
    loader: loader ?? now.loader,
    game_version: game_version ?? now.game_version,
    plugins: plugins.sort((one, other) => (one.path < other.path ? -1 : 1)).slice(0, 300),
  };
}

/** Opens a folder of the new tree, made as the one in the world would be. */
async function makeFolder(fresh: Folder, name: string, world: Folder): Promise<Folder> {
  if (!(await fresh.find(name))) {
    await fresh.makeFolder(name);
    await setFolderAttributes(fresh, name, await world.stat());
  }
  return fresh.enter(name);
}

/** Cuts a stream into pieces of given sizes. Throws `digest_mismatch` when it is shorter or longer. */
function createPieces(content: AsyncIterable<Buffer>) {
  const source = content[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const mismatch = () => new WorldFault("digest_mismatch", "What was staged arrived incomplete; try again.");
  return {
    take: async function* (size: number): AsyncGenerator<Buffer> {
      for (let left = size; left > 0; ) {
        if (rest.length === 0) {
          const { done, value } = await source.next();
          if (done) throw mismatch();
          rest = value;
        }
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
    end: async () => {
      if (rest.length > 0 || !(await source.next()).done) throw mismatch();
    },
  };
}
