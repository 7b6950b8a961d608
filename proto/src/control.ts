/** The channel between lobby, login gate and proxy (docs/reference/svc-control.md#frames). */
export const controlChannel = "svc:control";
/** Bytes of one frame: the limit of a plugin message from a server to a proxy. */
export const maxControlBytes = 32_767;
/** Names in one ListUpdate. */
const maxListedServers = 500;

/** A frame of `svc:control`. `player` is written for peers that want it and is never believed by a reader. */
export type ControlFrame =
  | { readonly type: "ListRequest" }
  | { readonly type: "ListUpdate"; readonly servers: readonly string[]; readonly access?: readonly string[] }
  | { readonly type: "StatusQuery"; readonly server: string | null }
  | {
      readonly type: "StatusUpdate";
      readonly server: string | null;
      readonly phase: string | null;
      readonly ready: boolean;
      readonly playersOnline: number;
      readonly playersMax: number;
      readonly claimable: boolean;
      /** Seconds until it is likely to be ready once it is woken, or from now on while it starts; absent when unknown. */
      readonly startSeconds?: number;
    }
  | {
      readonly type: "WakeRequest" | "ClaimRequest";
      readonly player: string | null;
      readonly server: string | null;
    }
  | { readonly type: "TransferReady"; readonly player: string | null; readonly server: string | null }
  | {
      readonly type: "Error";
      readonly code: string | null;
      readonly message: string | null;
      readonly server?: string | null;
    }
  | { readonly type: "LoginRelease"; readonly player: string | null };

type Fields = Readonly<Record<string, unknown>>;
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
const flag = (value: unknown): boolean => value === true;
const whole = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);
const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.slice(0, maxListedServers).map((one) => text(one) ?? "") : undefined;

const shapes: { readonly [Type in ControlFrame["type"]]: (fields: Fields) => ControlFrame } = {
  ListRequest: () => ({ type: "ListRequest" }),
  ListUpdate: (from) => {
    const [servers, access] = [texts(from["servers"]) ?? [], texts(from["access"])];
    return access ? { type: "ListUpdate", servers, access } : { type: "ListUpdate", servers };
  },
  StatusQuery: (from) => ({ type: "StatusQuery", server: text(from["server"]) }),
  StatusUpdate: (from) => {
    const startSeconds = whole(from["startSeconds"]);
    return {
      type: "StatusUpdate",
      server: text(from["server"]),
      phase: text(from["phase"]),
      ready: flag(from["ready"]),
      playersOnline: whole(from["playersOnline"]),
      playersMax: whole(from["playersMax"]),
      claimable: flag(from["claimable"]),
      ...(startSeconds > 0 && { startSeconds }),
    };
  },
  WakeRequest: (from) => ({
    type: "WakeRequest",
    player: text(from["player"]),
    server: text(from["server"]),
  }),
  ClaimRequest: (from) => ({
    type: "ClaimRequest",
    player: text(from["player"]),
    server: text(from["server"]),
  }),
  TransferReady: (from) => ({
    type: "TransferReady",
    player: text(from["player"]),
    server: text(from["server"]),
  }),
  Error: (from) => {
    const error = { type: "Error", code: text(from["code"]), message: text(from["message"]) } as const;
    return "server" in from ? { ...error, server: text(from["server"]) } : error;
  },
  LoginRelease: (from) => ({ type: "LoginRelease", player: text(from["player"]) }),
};

/** Writes a frame: `type` first, only the type's own fields, null strings as null. */
export function encodeControl(frame: ControlFrame): Buffer {
  const bytes = Buffer.from(JSON.stringify(shapes[frame.type](frame as unknown as Fields)), "utf8");
  if (bytes.length > maxControlBytes)
    throw new RangeError(`a ${frame.type} of ${bytes.length} bytes is too long`);
  return bytes;
}

/** Reads a frame; undefined is "drop it" (no object, no type, unknown type, too long). Missing fields are null, 0 or false. */
export function decodeControl(bytes: Buffer): ControlFrame | undefined {
  if (bytes.length > maxControlBytes) return undefined;
  const fields = parse(bytes);
  const type = fields?.["type"];
  if (!fields || typeof type !== "string" || !Object.hasOwn(shapes, type)) return undefined;
  return shapes[type as ControlFrame["type"]](fields);
}

function parse(bytes: Buffer): Fields | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Fields)
      : undefined;
  } catch {
    return undefined;
  }
}
