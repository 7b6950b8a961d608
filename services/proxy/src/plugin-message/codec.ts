// The messages of plugins on bungeecord:main (docs/reference/plugin-messages.md): strings as Java writes them, each with its
// length in front. Pure.

export const bungeeChannel = "bungeecord:main";

/** Those that are answered or obeyed; everything else on the channel is refused. */
export type PluginRequest =
  | { type: "Connect"; server: string }
  | { type: "GetServer" | "GetServers" | "UUID" }
  | { type: "PlayerCount"; server: string };

/** Names of requests that plugins know and that are refused, so that a log can name them. */
const refused = [
  ...["Forward", "ForwardToPlayer", "ConnectOther", "IP", "IPOther", "PlayerList", "Message", "MessageRaw"],
  ...["UUIDOther", "ServerIP", "KickPlayer", "KickPlayerRaw", "GetPlayerServer"],
] as const;

/** No request that we take has more. */
const maxBytes = 1_024;

/** `refused` names what it was. What is no message of this kind is refused as `malformed`. */
export function readRequest(data: Buffer): PluginRequest | { type: "refused"; what: string } {
  const malformed = { type: "refused", what: "malformed" } as const;
  if (data.length > maxBytes) return { type: "refused", what: nameOf(data) };
  const words: string[] = [];
  for (let at = 0; at < data.length; ) {
    const word = readWord(data, at);
    if (word === undefined) return { type: "refused", what: nameOf(data) };
    words.push(word);
    at += 2 + word.length;
  }
  const [type = "", server, ...more] = words;
  if (more.length > 0) return { type: "refused", what: nameOf(data) };
  if (type === "Connect" || type === "PlayerCount") return server ? { type, server } : malformed;
  if (type !== "GetServer" && type !== "GetServers" && type !== "UUID")
    return { type: "refused", what: nameOf(data) };
  return server === undefined ? { type } : malformed;
}

// Names of servers and requests are ASCII, of which a character is a byte in every encoding of Java.
function readWord(data: Buffer, at: number): string | undefined {
  if (at + 2 > data.length) return undefined;
  const end = at + 2 + data.readUInt16BE(at);
  if (end > data.length) return undefined;
  const word = data.toString("latin1", at + 2, end);
  return /^[\x20-\x7e]*$/.test(word) ? word : undefined;
}

/** Of what is refused, for the log: never a text of the sender's own. */
function nameOf(data: Buffer): string {
  const given = readWord(data, 0);
  return refused.find((name) => name === given) ?? "unknown";
}

/** An answer: words, and a number at its end when there is one. Words are ASCII. */
export function writeAnswer(words: readonly string[], count?: number): Buffer {
  const parts = words.flatMap((word) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(word.length);
    return [length, Buffer.from(word, "latin1")];
  });
  if (count === undefined) return Buffer.concat(parts);
  const number = Buffer.alloc(4);
  number.writeInt32BE(count);
  return Buffer.concat([...parts, number]);
}
