// The tree of commands that a client completes by Tab, and the answers to what it asks while somebody types.

import { MinecraftFault } from "../fault.ts";
import type { Version } from "../version/catalog.ts";
import { bool, Reader, string, varint } from "../wire/bytes.ts";

/** A word of a command and the words that may follow it. */
export type CommandWord = {
  /** The word itself; of an argument, what stands for it in hints. */
  readonly name: string;
  /** Anything may be typed in its place: `player` is completed by the client, `word` by whoever answers its question. */
  readonly argument?: "player" | "word";
  /** A command may end here. */
  readonly isComplete?: boolean;
  readonly next?: readonly CommandWord[];
};

/** The answer to a line that somebody is typing: words in the place of `length` UTF-16 units from `start`. */
type Completions = {
  readonly transactionId: number;
  readonly start: number;
  readonly length: number;
  readonly words: readonly string[];
};

const kinds = { root: 0, literal: 1, argument: 2 } as const;
const [kindBits, executable, redirected, asksServer] = [0x03, 0x04, 0x08, 0x10];
// Numbers of `brigadier:string` and `minecraft:game_profile`; the same in every version since 1.19.
const parsers = { word: Buffer.concat([varint(5), varint(0)]), player: varint(7) } as const;

/** A tree of these commands and no others. */
export function encodeCommands(version: Version, commands: readonly CommandWord[]): Buffer {
  const { nodes, roots } = nodesOf(commands, 1);
  return Buffer.concat([
    varint(version.play.toClient.id("declare_commands")),
    varint(nodes.length + 1),
    Buffer.of(kinds.root),
    ...listOf(roots),
    ...nodes,
    varint(0),
  ]);
}

/**
 * A server's tree (id and fields) with these commands beside its own; undefined when it is none that we can read. Nodes
 * are not read, since their layout depends on the server's mods: ours come last, and only the root is written anew. Every
 * server writes the root first; other trees are left alone. A client merges commands of the same name. What a server
 * gains by writing a broken tree is that its own player is disconnected, as always.
 */
export function addCommands(body: Buffer, commands: readonly CommandWord[]): Buffer | undefined {
  try {
    const reader = new Reader(body);
    reader.varint();
    const id = body.subarray(0, reader.offset);
    const count = reader.varint();
    const flags = reader.ubyte();
    const isRoot = (flags & (kindBits | redirected)) === kinds.root;
    // The index of the root is the last field.
    const children = reader.varint();
    if (count < 1 || children < 0 || !isRoot || body.at(-1) !== 0) return undefined;
    const start = reader.offset;
    for (let child = 0; child < children; child++) reader.varint();
    if (reader.offset >= body.length) return undefined;
    const { nodes, roots } = nodesOf(commands, count);
    return Buffer.concat([
      ...[id, varint(count + nodes.length), Buffer.of(flags), varint(children + roots.length)],
      body.subarray(start, reader.offset),
      ...roots.map(varint),
      body.subarray(reader.offset, -1),
      ...[...nodes, varint(0)],
    ]);
  } catch (error) {
    if (error instanceof MinecraftFault) return undefined;
    throw error;
  }
}

/** Reads a client's question: the line as it is typed so far, with its slash. */
export function readCompletionRequest(reader: Reader): { transactionId: number; line: string } {
  return { transactionId: reader.varint(), line: reader.string(32_500) };
}

/** Answers such a question. */
export function encodeCompletions(version: Version, answer: Completions): Buffer {
  return Buffer.concat([
    varint(version.play.toClient.id("tab_complete")),
    varint(answer.transactionId),
    varint(answer.start),
    varint(answer.length),
    varint(answer.words.length),
    ...answer.words.flatMap((word) => [string(word), bool(false)]),
  ]);
}

type Nodes = { readonly nodes: Buffer[]; readonly roots: number[] };

/** The nodes in the order of their indices, of which `first` is the lowest. */
function nodesOf(words: readonly CommandWord[], first: number): Nodes {
  const nodes: Buffer[] = [];
  const roots = words.map((word) => {
    const { nodes: below, roots: children } = nodesOf(word.next ?? [], first + nodes.length);
    nodes.push(...below, nodeOf(word, children));
    return first + nodes.length - 1;
  });
  return { nodes, roots };
}

function nodeOf({ name, argument, isComplete }: CommandWord, children: readonly number[]): Buffer {
  const kind = argument === undefined ? kinds.literal : kinds.argument;
  const flags = kind | (isComplete ? executable : 0) | (argument === "word" ? asksServer : 0);
  return Buffer.concat([
    Buffer.of(flags),
    ...listOf(children),
    string(name),
    ...(argument === undefined ? [] : [parsers[argument]]),
    ...(argument === "word" ? [string("minecraft:ask_server")] : []),
  ]);
}

const listOf = (indices: readonly number[]): Buffer[] => [varint(indices.length), ...indices.map(varint)];
