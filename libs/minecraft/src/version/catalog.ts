import { MinecraftFault } from "../fault.ts";
import { readTable, type VersionTable } from "./table.ts";

/** Packet ids by name, and names by id, of one state and direction. Names are minecraft-data's. */
type PacketIds = {
  /** Throws an `unsupported` fault when this version has no such packet. */
  readonly id: (name: string) => number;
  readonly find: (name: string) => number | undefined;
  readonly name: (id: number) => string | undefined;
};

/** One supported protocol version. */
export type Version = {
  readonly protocol: number;
  /** minecraft-data's name, the one NMP and mineflayer take. */
  readonly data: string;
  /** What players call it. */
  readonly label: string;
  readonly configuration: { readonly toClient: PacketIds; readonly toServer: PacketIds };
  readonly play: { readonly toClient: PacketIds; readonly toServer: PacketIds };
  /** Dialogs exist, in the configuration phase too (1.21.6). */
  readonly hasDialogs: boolean;
  /** Login success ends with the strict-error-handling flag (1.20.5 to 1.21.1). */
  readonly hasStrictErrors: boolean;
};

/** Every supported protocol: its number, minecraft-data's name, and what players call it; oldest first. */
export const known: readonly (readonly [protocol: number, data: string, label: string])[] = [
  [766, "1.20.6", "1.20.5-1.20.6"],
  [767, "1.21.1", "1.21-1.21.1"],
  [768, "1.21.3", "1.21.2-1.21.3"],
  [769, "1.21.4", "1.21.4"],
  [770, "1.21.5", "1.21.5"],
  [771, "1.21.6", "1.21.6"],
  [772, "1.21.8", "1.21.7-1.21.8"],
  [773, "1.21.9", "1.21.9-1.21.10"],
  [774, "1.21.11", "1.21.11"],
  [775, "26.1", "26.1-26.1.2"],
];

/** The supported protocol numbers, oldest first. */
export const supportedProtocols: readonly number[] = known.map(([protocol]) => protocol);

/** The range in players' words, for status and refusals: `1.20.5-26.1.2`. */
export const supportedRange = `${known[0]?.[2].split("-")[0]}-${known.at(-1)?.[2].split("-").at(-1)}`;

/** What players call a protocol's version; undefined for one that this build doesn't know. */
export function versionLabel(protocol: number): string | undefined {
  return known.find(([number]) => number === protocol)?.[2];
}

const versions = new Map<number, Version>();

/** The version with this protocol number, or undefined when this build doesn't know it. */
export function findVersion(protocol: number): Version | undefined {
  const built = versions.get(protocol);
  if (built) return built;
  const row = known.find(([number]) => number === protocol);
  if (!row) return undefined;
  const version = buildVersion(row[0], row[1], row[2]);
  versions.set(protocol, version);
  return version;
}

/** Like `findVersion`, for a protocol that was checked already. */
export function getVersion(protocol: number): Version {
  const version = findVersion(protocol);
  if (!version) throw new MinecraftFault("unsupported", `protocol ${protocol} is not supported`);
  return version;
}

function buildVersion(protocol: number, data: string, label: string): Version {
  const { packets } = readTable(protocol);
  const phase = (state: "configuration" | "play") => ({
    toClient: idsOf(packets[state].toClient, `${data} ${state} toClient`),
    toServer: idsOf(packets[state].toServer, `${data} ${state} toServer`),
  });
  return {
    protocol,
    data,
    label,
    configuration: phase("configuration"),
    play: phase("play"),
    hasDialogs: protocol >= 771,
    hasStrictErrors: protocol === 766 || protocol === 767,
  };
}

/** Numbers by name. */
export const numbered = (names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(names.map((name, id) => [name, id]));

function idsOf(names: VersionTable["items"], where: string): PacketIds {
  const ids = numbered(names);
  return {
    find: (name) => ids.get(name),
    name: (id) => names[id],
    id: (name) => {
      const id = ids.get(name);
      if (id === undefined) throw new MinecraftFault("unsupported", `there is no packet ${name} in ${where}`);
      return id;
    },
  };
}
