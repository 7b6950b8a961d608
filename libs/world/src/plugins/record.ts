// What the world says of its plugins: `.svc/plugins.json`, changed in the same step as the files (docs/reference/plugins.md#installed).

import { PluginRecords } from "@svc/proto/world-task";
import { isWorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";

export const recordFolder = ".svc";
export const recordName = "plugins.json";
const mostBytes = 1 << 20;
const none: PluginRecords = { loader: null, game_version: null, plugins: [] };

/** What is recorded; nothing when there is no record, or one that does not fit: the game and people can write there too. */
export async function readRecords(world: Folder): Promise<PluginRecords> {
  try {
    await using folder = await world.enter(recordFolder);
    await using file = await folder.openFile(recordName);
    if ((await file.stat()).size > mostBytes) return none;
    const parsed = PluginRecords.safeParse(JSON.parse(await file.readFile("utf8")));
    return parsed.success ? parsed.data : none;
  } catch (error) {
    if (isWorldFault(error, "not_found", "bad_path") || error instanceof SyntaxError) return none;
    throw error;
  }
}
