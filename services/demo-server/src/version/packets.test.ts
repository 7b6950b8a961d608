import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsFor } from "./packets.ts";

type Fields = Record<string, unknown>;
const location = { x: 1, y: 2, z: 3 };
const moving = { entityId: 7, velocity: { x: 8_000, y: -400, z: 0 } };
const time = { age: [0, 0], time: [0, -6_000] };

const cases: [fact: string, protocol: number, packet: string, given: Fields, expected: Fields][] = [
  ["1.21.4 reads what is written", 769, "map_chunk", { heightmaps: "nbt" }, { heightmaps: "nbt" }],
  [
    "heights are a list since 1.21.5",
    770,
    "map_chunk",
    { x: 1, heightmaps: "nbt" },
    { x: 1, heightmaps: [] },
  ],
  ["a place to spawn has no world before 1.21.9", 772, "spawn_position", { location }, { location }],
  [
    "a place to spawn has a world since 1.21.9",
    773,
    "spawn_position",
    { location },
    { globalPos: { dimensionName: "minecraft:overworld", location }, yaw: 0, pitch: 0 },
  ],
  ["speed is in parts before 1.21.9", 772, "entity_velocity", moving, moving],
  [
    "speed is in blocks since",
    773,
    "spawn_entity",
    moving,
    { ...moving, velocity: { x: 1, y: -0.05, z: 0 } },
  ],
  [
    "no speed is none",
    773,
    "entity_velocity",
    { entityId: 7 },
    { entityId: 7, velocity: { x: 0, y: 0, z: 0 } },
  ],
  ["time is one number before 26.1", 774, "update_time", time, time],
  [
    "time is a clock's since 26.1",
    775,
    "update_time",
    time,
    { age: [0, 0], clockUpdates: [{ id: 0, totalTicks: 6_000, partialTick: 0, rate: 1 }] },
  ],
  ["other packets stay", 775, "chat", { text: "x" }, { text: "x" }],
];
for (const [fact, number, packet, given, expected] of cases)
  test(fact, () => assert.deepEqual(fieldsFor(number, packet, given), expected));
