import { gameVersions } from "@svc/proto/game-version";
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

/** The supported protocol numbers, oldest first. */
export const supportedProtocols: readonly number[] = gameVersions.map(([protocol]) => protocol);

/** The range in players' words, for status and refusals: `1.20.5-26.1.2`. */
export const supportedRange = `${gameVersions[0]?.[2].split("-")[0]}-${gameVersions.at(-1)?.[2].split("-").at(-1)}`;

const versions = new Map<number, Version>();

/** The version with this protocol number, or undefined when this build doesn't know it. */
export function findVersion(protocol: number): Version | undefined {
  const built = versions.get(protocol);
  if (built) return built;
  const row = gameVersions.find(([number]) => number === protocol);
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
