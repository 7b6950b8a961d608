import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** Names of packets, each at the place of its id. */
type Names = readonly string[];
type Directions = { readonly toClient: Names; readonly toServer: Names };

/**
 * All that a version needs at run time, taken out of minecraft-data once by `write.ts` and kept as a file: reading it
 * costs a millisecond or two, where minecraft-data blocks for a good part of a second and keeps its tables for good.
 */
export type VersionTable = {
  readonly packets: { readonly configuration: Directions; readonly play: Directions };
  /** Item components, each at the place of its number. */
  readonly components: Names;
  readonly items: Names;
  /** The limbo world as packet bodies in base64. */
  readonly world: {
    readonly configuration: readonly string[];
    readonly join: { readonly void: readonly string[]; readonly platform: readonly string[] };
  };
};

/** Where the table of a protocol number is. */
export const tableFile = (protocol: number): URL => new URL(`tables/${protocol}.json.gz`, import.meta.url);

/** Reads a version's table. */
export function readTable(protocol: number): VersionTable {
  return JSON.parse(gunzipSync(readFileSync(tableFile(protocol))).toString()) as VersionTable;
}
