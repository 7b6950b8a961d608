import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { getVersion, supportedProtocols, type Version } from "../version/catalog.ts";
import { Reader, varint } from "../wire/bytes.ts";
import { addCommands, type CommandWord, encodeCommands, encodeCompletions } from "./commands.ts";

const require = createRequire(import.meta.url);
type Node = {
  flags: { command_node_type: number; has_command: number; has_custom_suggestions: number };
  children: number[];
  redirectNode?: number;
  extraNodeData?: { name: string; parser?: string; properties?: unknown; suggestionType?: string };
};
type Packets = {
  parsePacketBuffer: (bytes: Buffer) => { data: { name: string; params: Record<string, unknown> } };
  createPacketBuffer: (packet: { name: string; params: object }) => Buffer;
};
const { createSerializer, createDeserializer } = require("minecraft-protocol/src/transforms/serializer") as {
  createSerializer: (options: object) => Packets;
  createDeserializer: (options: object) => Packets;
};

function nodesIn(version: Version, body: Buffer): { nodes: Node[]; rootIndex: number } {
  const packets = createDeserializer({ state: "play", isServer: false, version: version.data });
  const { name, params } = packets.parsePacketBuffer(body).data;
  assert.equal(name, "declare_commands");
  return params as { nodes: Node[]; rootIndex: number };
}

/** Every path of a tree, as a line; commands end in `!`. */
function linesOf({ nodes, rootIndex }: { nodes: readonly Node[]; rootIndex: number }): string[] {
  const walk = (index: number, before: string): string[] => {
    const { flags, children, extraNodeData } = nodes[index] as Node;
    const word = extraNodeData
      ? `${extraNodeData.parser ? `<${extraNodeData.name} ${extraNodeData.parser}>` : extraNodeData.name}`
      : "";
    const line = `${before} ${word}`.trim();
    return [...(flags.has_command ? [`${line}!`] : []), ...children.flatMap((child) => walk(child, line))];
  };
  return walk(rootIndex, "");
}

const commands: readonly CommandWord[] = [
  { name: "glist", isComplete: true },
  {
    name: "felis",
    isComplete: true,
    next: [{ name: "go", next: [{ name: "server", argument: "word", isComplete: true }] }],
  },
  { name: "invite", next: [{ name: "player", argument: "player", isComplete: true }] },
];
const ours = [
  "glist!",
  "felis!",
  "felis go <server brigadier:string>!",
  "invite <player minecraft:game_profile>!",
];

/** A server's tree: `/gamemode <mode>`, `/tell <targets> <message>`, and an alias that redirects to it. */
function serverTree(version: Version): Buffer {
  const flags = (type: number, more: object = {}) => ({
    ...{ unused: 0, allows_restricted: 0, has_custom_suggestions: 0, has_redirect_node: 0, has_command: 0 },
    ...{ command_node_type: type, ...more },
  });
  const literal = (name: string, children: number[]) => ({
    ...{ flags: flags(1), children, extraNodeData: { name } },
  });
  const nodes = [
    { flags: flags(0), children: [1, 2, 3] },
    literal("gamemode", [4]),
    literal("tell", [5]),
    {
      flags: flags(1, { has_redirect_node: 1 }),
      children: [],
      redirectNode: 2,
      extraNodeData: { name: "w" },
    },
    {
      flags: flags(2, { has_command: 1 }),
      ...{ children: [], extraNodeData: { name: "mode", parser: "minecraft:gamemode" } },
    },
    {
      flags: flags(2, { has_custom_suggestions: 1, has_command: 1 }),
      children: [],
      extraNodeData: {
        ...{ name: "targets", parser: "minecraft:entity" },
        ...{ properties: { onlyAllowEntities: false, onlyAllowPlayers: true } },
        suggestionType: "minecraft:ask_server",
      },
    },
  ];
  return createSerializer({ state: "play", isServer: true, version: version.data }).createPacketBuffer({
    ...{ name: "declare_commands", params: { nodes, rootIndex: 0 } },
  });
}

for (const protocol of supportedProtocols) {
  const version = getVersion(protocol);
  test(`a ${version.label} client reads our commands alone and beside a server's own`, () => {
    assert.deepEqual(linesOf(nodesIn(version, encodeCommands(version, commands))), ours);
    const tree = serverTree(version);
    const both = addCommands(tree, commands);
    assert(both);
    const { nodes, rootIndex } = nodesIn(version, both);
    assert.deepEqual(linesOf({ nodes, rootIndex }), [
      "gamemode <mode minecraft:gamemode>!",
      "tell <targets minecraft:entity>!",
      ...ours,
    ]);
    assert.equal(nodes[3]?.redirectNode, 2);
    const asking = nodes.find(({ extraNodeData }) => extraNodeData?.name === "server");
    assert.equal(asking?.extraNodeData?.suggestionType, "minecraft:ask_server");
  });
}

test("an answer to what somebody types is read by the newest client", () => {
  const version = getVersion(supportedProtocols.at(-1) as number);
  const packets = createDeserializer({ state: "play", isServer: false, version: version.data });
  const answer = { transactionId: 7, start: 10, length: 2, words: ["survival"] };
  const { params } = packets.parsePacketBuffer(encodeCompletions(version, answer)).data;
  assert.deepEqual(params, {
    ...{ transactionId: 7, start: 10, length: 2, matches: [{ match: "survival", tooltip: undefined }] },
  });
});

const version = getVersion(769);
const id = varint(version.play.toClient.id("declare_commands"));
const tree = serverTree(version);
const damaged: [string, Buffer][] = [
  ["nothing but its id", id],
  ["no nodes", Buffer.concat([id, varint(0), varint(0)])],
  ["a negative number of nodes", Buffer.concat([id, varint(-1), Buffer.of(0, 0, 0)])],
  ["a first node that is not a root", Buffer.concat([id, varint(1), Buffer.of(1, 0, 1, 0x61, 0)])],
  ["a root that redirects", Buffer.concat([id, varint(1), Buffer.of(8, 0, 0, 0)])],
  ["a root in another place", Buffer.concat([tree.subarray(0, -1), varint(3)])],
  [
    "more children than it has bytes",
    Buffer.concat([id, varint(1), Buffer.of(0), varint(0x7fffffff), Buffer.of(0)]),
  ],
  ["a negative number of children", Buffer.concat([id, varint(1), Buffer.of(0), varint(-1), Buffer.of(0)])],
  ["no index behind the root's children", Buffer.concat([id, varint(1), Buffer.of(0, 1, 0)])],
  ["a number without an end", Buffer.concat([id, Buffer.alloc(12, 0xff), Buffer.of(0)])],
];
for (const [what, body] of damaged) {
  test(`a tree with ${what} is left as it is`, () => assert.equal(addCommands(body, commands), undefined));
}

test("the largest tree is read once, up to the end of the root", () => {
  const children = 100_000;
  const body = Buffer.concat([
    ...[id, varint(children + 1), Buffer.of(0), varint(children)],
    Buffer.alloc(children, 1),
    Buffer.of(0),
  ]);
  let reads = 0;
  const { varint: read } = Reader.prototype;
  Reader.prototype.varint = function counted() {
    reads += 1;
    return read.call(this);
  };
  try {
    assert((addCommands(body, commands)?.length ?? 0) > body.length);
    assert.equal(reads, children + 3);
  } finally {
    Reader.prototype.varint = read;
  }
});
