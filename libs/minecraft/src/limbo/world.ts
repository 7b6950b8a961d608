import { numbered, type Version } from "../version/catalog.ts";
import { readTable } from "../version/table.ts";

/** Everything a player is sent on the way in, as packet bodies. */
type World = { readonly configuration: readonly Buffer[]; readonly join: readonly Buffer[] };

/** What a limbo knows of a version. */
type Scenery = {
  readonly world: { readonly void: World; readonly platform: World };
  readonly components: ReadonlyMap<string, number>;
  readonly items: ReadonlyMap<string, number>;
};

const built = new Map<number, Scenery>();

/** The worlds and items of a version; read from its table once. */
export function sceneryOf({ protocol }: Version): Scenery {
  const known = built.get(protocol);
  if (known) return known;
  const { world, components, items } = readTable(protocol);
  const bodies = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, "base64"));
  const configuration = bodies(world.configuration);
  const scenery: Scenery = {
    world: {
      void: { configuration, join: bodies(world.join.void) },
      platform: { configuration, join: bodies(world.join.platform) },
    },
    components: numbered(components),
    items: numbered(items),
  };
  built.set(protocol, scenery);
  return scenery;
}
