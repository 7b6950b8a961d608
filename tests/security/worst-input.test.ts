// Outside input is parsed in time linear in its size. Each parser gets the worst input that its caller admits.

import { Socket } from "node:net";
import { describe, test } from "node:test";
import { plainText, readTextNbt } from "@svc/minecraft";
import { decodeControl } from "@svc/proto/control";
import { parsePlayerList } from "@svc/rcon";
import { parseReference } from "@svc/registry";
import { createSmtpConnection, isPlainAddress, wireAddress } from "@svc/smtp";
import { hostOf } from "../../libs/http-gateway/src/access/host.ts";
import { presentedSession } from "../../libs/http-gateway/src/access/session-cookie.ts";
import { parseJson } from "../../libs/http-gateway/src/request/body.ts";
import { languageOf } from "../../libs/http-gateway/src/request/language.ts";
import { cleanLine } from "../../libs/kube/src/clean-line.ts";
import { expand } from "../../libs/local-cluster/src/node/expand.ts";
import { readDigest } from "../../libs/mesh/src/byte-transfer/content-digest.ts";
import { readTextJson } from "../../libs/minecraft/src/packet/text.ts";
import { createPacketReader } from "../../libs/rcon/src/packet.ts";
import { applyPax, type RawHeader } from "../../libs/world/src/archive/tar-header.ts";
import { parsePath } from "../../libs/world/src/path/parse.ts";
import { maskPassword } from "../../libs/world/src/path/protect.ts";
import { parseDockerfile } from "../../services/build-agent/src/assemble/dockerfile.ts";
import { matchesName } from "../../services/build-agent/src/assemble/glob.ts";
import { expand as expandVariables, splitWords } from "../../services/build-agent/src/assemble/words.ts";
import { readCurseForge } from "../../services/builds/src/pack/curseforge.ts";
import { readModrinth } from "../../services/builds/src/pack/modrinth.ts";
import { truncateUserAgent } from "../../services/identity/src/session/policy.ts";
import { parseQuantity } from "../../services/lifecycle/src/cluster/quantity.ts";
import { isUnknownCommand, parseInfoPage } from "../../services/lifecycle/src/console/reply/luck-perms.ts";
import { bannedIn, whitelistedIn } from "../../services/lifecycle/src/console/reply/names.ts";
import { parseTicks } from "../../services/lifecycle/src/history/ticks.ts";
import { detailOf } from "../../services/lifecycle/src/schedule/messages.ts";
import { parseCommand } from "../../services/proxy/src/command/parse.ts";
import { withProperty } from "../../services/world-agent/src/init/properties.ts";
import { assertLinear, pumped, type Worst } from "./cpu-work.ts";

const rconBytes = 1_048_576;

const replies: Record<string, Worst> = {
  "a list reply of open brackets": {
    size: rconBytes,
    input: pumped("There are 1 of a max of 20 players online: ", "["),
    parse: parsePlayerList,
  },
  "a list reply of names with open brackets": {
    size: rconBytes,
    input: pumped("There are 1 of a max of 20 players online: ", "[[[[[[[[a]b,"),
    parse: parsePlayerList,
  },
  "a list reply of counts that never end": {
    size: rconBytes,
    input: pumped("", "There are 1/2"),
    parse: parsePlayerList,
  },
  "a list reply of one long number": {
    size: rconBytes,
    input: pumped("There are ", "1"),
    parse: parsePlayerList,
  },
  "a list reply of spaces": {
    size: rconBytes,
    input: pumped("There are 1 of a max of 20 players online: a", " ", "b"),
    parse: parsePlayerList,
  },
  "a LuckPerms line of spaces": { size: rconBytes, input: pumped("> a", " ", "x"), parse: parseInfoPage },
  "a LuckPerms line of brackets": { size: rconBytes, input: pumped("> a", "()", "("), parse: parseInfoPage },
  "a LuckPerms node of brackets": {
    size: rconBytes,
    input: pumped("> ", "()", " x"),
    parse: parseInfoPage,
  },
  "a LuckPerms line of words in brackets": {
    size: rconBytes,
    input: pumped("> a ", "( ) ", "x"),
    parse: parseInfoPage,
  },
  "LuckPerms lines as long as they may be": {
    size: rconBytes,
    input: pumped("", `> a${" ()".repeat(600)} x\n`),
    parse: parseInfoPage,
  },
  "LuckPerms page counts": { size: rconBytes, input: pumped("", "(page 1 of "), parse: parseInfoPage },
  "LuckPerms colours": { size: rconBytes, input: pumped("", "§c§c§c"), parse: parseInfoPage },
  "an unknown command behind spaces": {
    size: rconBytes,
    input: pumped("", " ", "x"),
    parse: isUnknownCommand,
  },
  "a whitelist without its colon": {
    size: rconBytes,
    input: pumped("", " whitelisted player"),
    parse: whitelistedIn,
  },
  "a whitelist of line breaks": {
    size: rconBytes,
    input: pumped("whitelisted players:", "\n", "x"),
    parse: whitelistedIn,
  },
  "a ban list of one word": { size: rconBytes, input: pumped("", "x"), parse: bannedIn },
  "a ban list of bans": { size: rconBytes, input: pumped("", "x was banned by "), parse: bannedIn },
  "ticks without end": { size: rconBytes, input: pumped("TPS from last 5m: ", "20.0, "), parse: parseTicks },
  "a ban list of old headings": { size: rconBytes, input: pumped("", " banned players"), parse: bannedIn },
};

describe("replies of a game server over RCON", () => {
  for (const [what, worst] of Object.entries(replies)) test(`${what}: linear`, () => assertLinear(worst));
});

const nested = (open: string, close: string) => (size: number) => {
  const depth = Math.floor(size / (open.length + close.length));
  return open.repeat(depth) + close.repeat(depth);
};
const bytes = (make: (size: number) => string) => (size: number) => Buffer.from(make(size), "latin1");
/** As if each byte had come by itself. */
const eachByte = (input: Buffer, take: (byte: Buffer) => void) => {
  for (let at = 0; at < input.length; at++) take(input.subarray(at, at + 1));
};

const consoleBytes = 16_384;
const logs: Record<string, Worst> = {
  "escapes that never end": { size: consoleBytes, input: pumped("", "\u001b[0"), parse: clean },
  "one escape with parameters alone": { size: consoleBytes, input: pumped("\u001b[", "0"), parse: clean },
  "one escape with spaces alone": {
    size: consoleBytes,
    input: pumped("\u001b[0", " ", "\u0001"),
    parse: clean,
  },
  "strings of the terminal": { size: consoleBytes, input: pumped("", "\u001b]\u0090"), parse: clean },
  "detail of a command's reply": { size: 262_144, input: pumped("a", "§c  \u0001"), parse: detailOf },
};
function clean(text: string): string {
  return cleanLine(Buffer.from(text), 4_096);
}

const gameBytes = 2_097_151;
const game: Record<string, Worst<Buffer>> = {
  "a text of lists in lists": {
    size: gameBytes,
    input: (size) => Buffer.alloc(size, Buffer.of(9, 0, 0, 0, 1)),
    parse: readTextNbt,
  },
  "a text of compounds in compounds": {
    size: gameBytes,
    input: (size) => Buffer.alloc(size, Buffer.of(10, 0, 0)),
    parse: readTextNbt,
  },
  "a text of an endless list": {
    size: gameBytes,
    input: (size) => Buffer.concat([Buffer.of(9, 8, 0x7f, 0xff, 0xff, 0xff), Buffer.alloc(size - 6)]),
    parse: readTextNbt,
  },
  "a text of one string": {
    size: 65_538,
    input: (size) =>
      Buffer.concat([Buffer.of(8, (size - 3) >> 8, (size - 3) & 255), Buffer.alloc(size - 3, 0xe2)]),
    parse: readTextNbt,
  },
  "a reason of lists in lists": {
    size: 262_144,
    input: bytes(nested("[", "]")),
    parse: (input) => plainText(readTextJson(input.toString())),
  },
  "a reason of texts in texts": {
    size: 262_144,
    input: bytes(nested('{"extra":[', "]}")),
    parse: (input) => plainText(readTextJson(input.toString())),
  },
  "a reason of many texts": {
    size: 262_144,
    input: bytes((size) => `[${'"a",'.repeat(size / 4 - 1)}""]`),
    parse: (input) => plainText(readTextJson(input.toString())),
  },
  "a frame of svc:control": {
    size: 32_767,
    input: bytes((size) => `{"type":"ListUpdate","servers":[${'"a",'.repeat(size / 4 - 20)}""]}`),
    parse: decodeControl,
  },
  "RCON that comes byte by byte": {
    size: 262_144,
    input: (size) => Buffer.alloc(size, Buffer.from("0a00000001000000000000000000", "hex")),
    parse: (input) => eachByte(input, createPacketReader({ maxBodyBytes: 4_096, onPacket: () => {} })),
  },
  "a command of spaces": {
    size: 32_767,
    input: bytes(pumped("felis", " ", "x")),
    parse: (input) => parseCommand(input.toString()),
  },
};

const headerBytes = 16_384;
const http: Record<string, Worst> = {
  "a body of lists in lists": { size: 1_048_576, input: nested("[", "]"), parse: parse(parseJson) },
  "a body of one string": { size: 1_048_576, input: pumped('{"a":"', "\\\\", '"}'), parse: parse(parseJson) },
  "a body of escapes and keys": {
    size: 1_048_576,
    input: pumped("{", '"\\u0061":[{}],', '"z":1}'),
    parse: parse(parseJson),
  },
  "a cookie of cookies": { size: headerBytes, input: pumped("", "svc_session=a;"), parse: presentedSession },
  "a cookie of spaces": {
    size: headerBytes,
    input: pumped("svc_session=", " ", ";x"),
    parse: presentedSession,
  },
  "languages without end": { size: headerBytes, input: pumped("", "a-b,"), parse: languageOf },
  "a language of parts": { size: headerBytes, input: pumped("a", "-b", "!"), parse: languageOf },
  "a digest of spaces": { size: headerBytes, input: pumped("sha-256=", " ", "x"), parse: readDigest },
  "a host of dots": {
    size: headerBytes,
    input: pumped("", "a.", "!"),
    parse: (host) => hostOf({ headers: { host } } as never),
  },
  "a user agent of what is not text": {
    size: headerBytes,
    input: pumped("a", "\ufffd", "x"),
    parse: truncateUserAgent,
  },
  "a path of separators": { size: headerBytes, input: pumped("", "/a/.."), parse: parsePath },
  "an image of separators": { size: headerBytes, input: pumped("a", "__a", "!"), parse: parseReference },
  "an image of 255 characters": { size: 255, input: pumped("a", "-", "!"), parse: parseReference },
  "a mail address of points": { size: headerBytes, input: pumped("a@", "a.", "@"), parse: mailbox },
  "a quantity of digits": { size: headerBytes, input: pumped("1", "1", "x"), parse: parseQuantity },
};
function parse(reader: (body: Buffer) => unknown): (text: string) => unknown {
  return (text) => reader(Buffer.from(text));
}
function mailbox(address: string): unknown {
  return [isPlainAddress(address), wireAddress(address)];
}

const propertiesBytes = 262_144;
const header: RawHeader = { path: "a", type: "0", mode: 0o644, mtimeMs: 0, size: 0 };
const files: Record<string, Worst> = {
  "properties of backslashes": { size: propertiesBytes, input: pumped("a=", "\\", "x\n"), parse: set },
  "properties of one line that goes on": { size: propertiesBytes, input: pumped("a=", "\\\n"), parse: set },
  "properties of empty lines": { size: propertiesBytes, input: pumped("", "\r\n"), parse: set },
  "properties of keys": { size: propertiesBytes, input: pumped("", "rcon.password \t"), parse: set },
  "an argument of openings": { size: propertiesBytes, input: pumped("", "$("), parse: expanded },
  "an argument of openings that close": {
    size: propertiesBytes,
    input: pumped("", "$(", ")"),
    parse: expanded,
  },
  "a password behind spaces": { size: propertiesBytes, input: pumped("", " \t", "x"), parse: maskPassword },
  "a password that goes on": {
    size: propertiesBytes,
    input: pumped("rcon.password=", "\\\n"),
    parse: maskPassword,
  },
  passwords: { size: propertiesBytes, input: pumped("", "rcon.password\n"), parse: maskPassword },
  "records of an archive": {
    size: 1_048_576,
    input: pumped("", "6 a=b\n"),
    parse: (text) => applyPax(Buffer.from(text), header),
  },
  "a record of zeros": {
    size: 1_048_576,
    input: pumped("", "0"),
    parse: (text) => applyPax(Buffer.from(text), header),
  },
};
const packBytes = 1_048_576;
const patternChars = 4_096;
const packs: Record<string, Worst> = {
  "a Dockerfile of one continued line": {
    size: packBytes,
    input: pumped("RUN a", "\\\n"),
    parse: parseDockerfile,
  },
  "a Dockerfile of flags": {
    size: packBytes,
    input: pumped("COPY ", "--a=b ", "c d"),
    parse: parseDockerfile,
  },
  "a Dockerfile of comments": {
    size: packBytes,
    input: pumped("RUN a \\\n", " #\n", "b"),
    parse: parseDockerfile,
  },
  "words of quotes": { size: packBytes, input: pumped("", '"\'" '), parse: splitWords },
  "variables of openings": { size: packBytes, input: pumped("", "$", `\${A:-b}`), parse: variables },
  "variables in a default": { size: packBytes, input: pumped("", `\${A:-`, "}"), parse: variables },
  "a pattern of brackets that nothing closes": {
    size: patternChars,
    input: pumped("", "["),
    parse: matchesA,
  },
  "a pattern of brackets that one closes": {
    size: patternChars,
    input: pumped("", "[", "]"),
    parse: matchesA,
  },
  "a pattern of stars": { size: patternChars, input: pumped("", "*b"), parse: matchesA },
  "an index of lists in lists": { size: packBytes, input: nested("[", "]"), parse: readModrinth },
  "a manifest of lists in lists": { size: packBytes, input: nested("[", "]"), parse: readCurseForge },
};
function variables(text: string): string {
  return expandVariables(text, new Map());
}
function matchesA(pattern: string): boolean {
  return matchesName(pattern, "a".repeat(255));
}
function expanded(text: string): string {
  return expand(text, {});
}
function set(text: string): string {
  return withProperty(text, "rcon.port", "25575");
}

const smtp = (input: Buffer) => eachByte(input, (byte) => void socketOf().emit("data", byte));
let line: Socket | undefined;
/** One connection for each input. */
function socketOf(): Socket {
  if (line && !line.destroyed) return line;
  line = new Socket();
  createSmtpConnection(line, 60_000);
  return line;
}
const mails: Record<string, Worst<Buffer>> = {
  "a reply without its end, byte by byte": { size: 65_536, input: bytes(pumped("250-", "a")), parse: smtp },
  "a reply of empty lines, byte by byte": { size: 65_536, input: bytes(pumped("", "250-\n")), parse: smtp },
};

for (const [where, worst] of Object.entries({ logs, http, files, packs })) {
  describe(where, () => {
    for (const [what, one] of Object.entries(worst)) test(`${what}: linear`, () => assertLinear(one));
  });
}
for (const [where, worst] of Object.entries({ game, mails })) {
  describe(where, () => {
    for (const [what, one] of Object.entries(worst)) test(`${what}: linear`, () => assertLinear(one));
  });
}
