// What versions after 1.21.4 changed in packets that flying-squid writes as before. Pure.

type Fields = Readonly<Record<string, unknown>>;
type Change = {
  /** The first protocol that has it. */
  readonly since: number;
  readonly packets: readonly string[];
  readonly apply: (fields: Fields) => Fields;
};

/** Velocities were counted in parts of a block for each tick. */
const partsOfBlock = 8_000;
/** Of the only dimension here: its name, and its clock's number. */
const [dimensionName, clock] = ["minecraft:overworld", 0];

const changes: readonly Change[] = [
  // flying-squid knows no heights; a list may be empty, the compound of before may not be one.
  { since: 770, packets: ["map_chunk"], apply: (fields) => ({ ...fields, heightmaps: [] }) },
  {
    since: 773,
    packets: ["spawn_position"],
    apply: ({ location }) => ({ globalPos: { dimensionName, location }, yaw: 0, pitch: 0 }),
  },
  {
    since: 773,
    packets: ["spawn_entity", "entity_velocity"],
    apply: (fields) => ({ ...fields, velocity: blocksOf(fields["velocity"]) }),
  },
  {
    since: 775,
    packets: ["update_time"],
    apply: ({ age, time }) => ({
      age,
      clockUpdates: [{ id: clock, totalTicks: ticksOf(time), partialTick: 0, rate: 1 }],
    }),
  },
];

/** The fields of a packet as clients of this protocol read them. */
export function fieldsFor(protocol: number, packet: string, fields: Fields): Fields {
  return changes
    .filter(({ since, packets }) => protocol >= since && packets.includes(packet))
    .reduce((changed, { apply }) => apply(changed), fields);
}

function blocksOf(velocity: unknown) {
  const { x = 0, y = 0, z = 0 } = (velocity ?? {}) as { x?: number; y?: number; z?: number };
  return { x: x / partsOfBlock, y: y / partsOfBlock, z: z / partsOfBlock };
}

/** Of a 64-bit number in two halves; what the day counts fits the lower one. */
function ticksOf(time: unknown): number {
  return Array.isArray(time) ? Math.abs(Number(time[1])) : 0;
}
