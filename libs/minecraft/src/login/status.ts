import { type Text, textJson } from "../packet/text.ts";
import { supportedProtocols, supportedRange } from "../version/catalog.ts";

/** What the server list shows. */
export type ServerStatus = {
  readonly description: Text;
  readonly playersOnline: number;
  readonly playersMax: number;
  /** The text in place of the version, which a client of another one shows; the versions we speak when absent. */
  readonly versionName?: string;
  /** The only version that is spoken; every one we know when absent. */
  readonly protocol?: number;
  /** Names in the list's tooltip. */
  readonly sample?: readonly { readonly name: string; readonly id: string }[];
  /** `data:image/png;base64,…`, 64x64. */
  readonly favicon?: string;
};

/** The JSON of a status answer. A client of a version we speak sees its own number, so it shows no warning. */
export function statusJson(status: ServerStatus, protocol: number): string {
  const ours = supportedProtocols.includes(protocol) ? protocol : (supportedProtocols.at(-1) ?? 0);
  const spoken = status.protocol ?? ours;
  return JSON.stringify({
    version: { name: status.versionName ?? `Minecraft ${supportedRange}`, protocol: spoken },
    players: { max: status.playersMax, online: status.playersOnline, sample: status.sample ?? [] },
    description: JSON.parse(textJson(status.description)) as unknown,
    ...(status.favicon === undefined ? {} : { favicon: status.favicon }),
    enforcesSecureChat: false,
  });
}
