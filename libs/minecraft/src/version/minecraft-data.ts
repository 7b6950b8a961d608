// What minecraft-data tells of a version. Only `write.ts` and its test ask: its tables are large and slow to load.

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

type Mappings = Record<string, string>;
type Mapper = [string, { mappings: Mappings }];
type ComponentTypes = { SlotComponentType?: Mapper };
export type Direction = { types: ComponentTypes & { packet: [string, [{ type: Mapper }, unknown]] } };

/** minecraft-data's tables of one version, whose shape differs with the version. */
export type VersionData = {
  readonly protocol: Record<string, { toClient: Direction; toServer: Direction }> & { types: ComponentTypes };
  readonly loginPacket: Record<string, unknown> & {
    dimensionCodec: Record<string, { id: string; entries: { key: string; value: unknown }[] }>;
    worldState: Record<string, unknown>;
  };
  readonly blocksByName: Record<string, { defaultState: number } | undefined>;
  readonly itemsArray: readonly { id: number; name: string }[];
};

/** Loads minecraft-data's tables of a version. */
export function versionData(name: string): VersionData {
  const load = require("minecraft-data") as (version: string) => VersionData | null;
  const data = load(name);
  if (!data) throw new Error(`minecraft-data has no ${name}`);
  return data;
}
