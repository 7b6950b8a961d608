// The limbo world of a version, written with the serializer that bots speak. Takes a fraction of a second.

import { createRequire } from "node:module";
import { type VersionData, versionData } from "./minecraft-data.ts";
import type { VersionTable } from "./table.ts";

// NMP's serializer without NMP: its own entry loads authentication and half a second of other things.
const require = createRequire(import.meta.url);

type Source = { readonly protocol: number; readonly data: string; readonly tables: VersionData };

type Serializer = { createPacketBuffer: (packet: { name: string; params: object }) => Buffer };
type Chunk = {
  setBlockStateId: (at: unknown, state: number) => void;
  dump: () => Buffer;
  dumpLight: () => object;
};

/**
 * The registries a client wants to have been told. More is worse: enchantments and their like refer to tags that
 * minecraft-data does not have, and a vanilla client then refuses the whole configuration.
 */
const registries = new Set(
  [
    "worldgen/biome dimension_type damage_type wolf_variant painting_variant cat_variant chicken_variant cow_variant",
    "frog_variant pig_variant wolf_sound_variant zombie_nautilus_variant timeline dialog banner_pattern",
    "cat_sound_variant chicken_sound_variant cow_sound_variant pig_sound_variant instrument jukebox_song",
    "trim_material world_clock",
  ]
    .join(" ")
    .split(" ")
    .map((name) => `minecraft:${name}`),
);

/** The height players stand at. */
const floorY = 99;

/** Serializes the world: nothing but one chunk, empty or with a floor to stand on. */
export function makeWorld(protocol: number, data: string): VersionTable["world"] {
  const source = { protocol, data, tables: versionData(data) };
  const packed = (bodies: readonly Buffer[]) => bodies.map((body) => body.toString("base64"));
  return {
    configuration: packed(configurationPackets(source)),
    join: { void: packed(joinPackets(source, false)), platform: packed(joinPackets(source, true)) },
  };
}

function serializer(state: "configuration" | "play", data: string): (name: string, params: object) => Buffer {
  const { createSerializer } = require("minecraft-protocol/src/transforms/serializer") as {
    createSerializer: (options: object) => Serializer;
  };
  const made = createSerializer({ state, isServer: true, version: data });
  return (name, params) => made.createPacketBuffer({ name, params });
}

function configurationPackets({ data, tables }: Source): Buffer[] {
  const packet = serializer("configuration", data);
  const known = Object.values(tables.loginPacket.dimensionCodec).filter(({ id }) => registries.has(id));
  const timeline = known.find(({ id }) => id === "minecraft:timeline");
  return [
    packet("feature_flags", { features: ["minecraft:vanilla"] }),
    ...known.map((registry) => packet("registry_data", registry)),
    ...(timeline
      ? [packet("tags", { tags: [{ tagType: timeline.id, tags: timelineTags(timeline.entries) }] })]
      : []),
    packet("finish_configuration", {}),
  ];
}

/** The dimensions refer to these tags (1.21.11 and later). */
function timelineTags(entries: readonly { key: string }[]) {
  const all = entries.map((_, index) => index);
  const tag = (name: string, ids: number[]) => ({ tagName: `minecraft:${name}`, entries: ids });
  return [tag("universal", []), tag("in_overworld", all), tag("in_nether", []), tag("in_end", [])];
}

function joinPackets(source: Source, platform: boolean): Buffer[] {
  const { protocol, data } = source;
  const packet = serializer("play", data);
  const { loginPacket } = source.tables;
  return [
    packet("login", {
      ...loginPacket,
      entityId: 1,
      isHardcore: false,
      maxPlayers: 20,
      viewDistance: 2,
      simulationDistance: 2,
      enforcesSecureChat: false,
      worldState: { ...loginPacket.worldState, gamemode: "adventure", hashedSeed: [0, 0] },
    }),
    packet("abilities", { flags: 7, flyingSpeed: 0, walkingSpeed: 0.1 }),
    packet("update_view_position", { chunkX: 0, chunkZ: 0 }),
    packet("position", {
      ...{ teleportId: 1, x: 8.5, y: floorY + 1, z: 8.5, dx: 0, dy: 0, dz: 0, yaw: 0, pitch: 0 },
      flags: protocol >= 768 ? {} : 0,
    }),
    packet("game_state_change", { reason: protocol >= 767 ? "level_chunks_load_start" : 13, gameMode: 0 }),
    packet("map_chunk", chunk(source, platform)),
    packet("update_health", { health: 20, food: 20, foodSaturation: 5 }),
  ];
}

function chunk({ protocol, data, tables }: Source, platform: boolean): object {
  const makeClass = require("prismarine-chunk") as (version: string) => new (size: object) => Chunk;
  const column = new (makeClass(data))({ minY: -64, worldHeight: 384 });
  const barrier = tables.blocksByName["barrier"]?.defaultState;
  if (platform && barrier !== undefined) {
    for (let x = 6; x <= 10; x++)
      for (let z = 6; z <= 10; z++) column.setBlockStateId({ x, y: floorY, z }, barrier);
  }
  const empty = {
    type: "compound",
    value: { MOTION_BLOCKING: { type: "longArray", value: Array(37).fill([0, 0]) } },
  };
  return {
    ...{ x: 0, z: 0, heightmaps: protocol >= 770 ? [] : empty, blockEntities: [], trustEdges: true },
    chunkData: column.dump(),
    ...column.dumpLight(),
  };
}
