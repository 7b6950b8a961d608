// A version's table, made out of minecraft-data.

import { makeWorld } from "./make-world.ts";
import { type Direction, type VersionData, versionData } from "./minecraft-data.ts";
import type { VersionTable } from "./table.ts";

export function makeTable(protocol: number, data: string): VersionTable {
  const tables = versionData(data);
  const phase = (state: "configuration" | "play") => ({
    toClient: packetNames(tables, state, "toClient"),
    toServer: packetNames(tables, state, "toServer"),
  });
  return {
    packets: { configuration: phase("configuration"), play: phase("play") },
    components: componentNames(tables),
    items: inPlace(tables.itemsArray.map(({ id, name }) => [id, name])),
    world: makeWorld(protocol, data),
  };
}

function packetNames(tables: VersionData, state: string, direction: "toClient" | "toServer"): string[] {
  const types = tables.protocol[state]?.[direction] as Direction;
  return inPlace(Object.entries(types.types.packet[1][0].type[1].mappings));
}

// Component numbers move with almost every version, and so does the place where they are written.
function componentNames({ protocol }: VersionData): string[] {
  const types = protocol.types.SlotComponentType ?? protocol["play"]?.toClient.types.SlotComponentType;
  if (!types) throw new Error("minecraft-data names no item components");
  return inPlace(Object.entries(types[1].mappings));
}

/** Each name at the place of its number. */
function inPlace(pairs: readonly (readonly [number | string, string])[]): string[] {
  const names = new Array<string>(pairs.length);
  for (const [id, name] of pairs) names[Number(id)] = name;
  if (names.length !== pairs.length || Object.keys(names).length !== pairs.length)
    throw new Error(`the numbers of ${pairs.length} names have gaps`);
  return names;
}
