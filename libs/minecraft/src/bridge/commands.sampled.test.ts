import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { patience } from "@svc/local-stack/testing";
import type { LimboSession } from "../limbo/limbo.ts";
import { createLimbo } from "../limbo/session.ts";
import { listen } from "../login/listen.ts";
import type { CommandWord } from "../packet/commands.ts";
import { startBot } from "../testing/bot.ts";
import { getVersion, supportedProtocols } from "../version/catalog.ts";
import { string, varint } from "../wire/bytes.ts";
import { createBridge } from "./bridge.ts";

const secret = "forwarding secret";
const status = () => ({ description: "test", playersOnline: 0, playersMax: 1 });
const local = { port: 0, host: "127.0.0.1", status } as const;
const limit = { timeout: 60_000 * patience };
const word = (name: string): CommandWord => ({ name, isComplete: true });

type Tree = { nodes: { extraNodeData?: { name: string } }[] };
const namesIn = ({ nodes }: Tree) => nodes.flatMap(({ extraNodeData: data }) => (data ? [data.name] : []));

/** A server that declares `serverCommands`, behind a proxy that adds `/felis`. */
async function startFixture(serverCommands: readonly CommandWord[]) {
  const limbo = createLimbo({ commands: serverCommands });
  const entered = Promise.withResolvers<LimboSession>();
  const server = await listen({
    ...{ ...local, trust: { kind: "forwarded", secret } },
    onPlayer: async (player) => entered.resolve(await limbo.enter(player)),
  });
  const asked: string[] = [];
  const proxy = await listen({
    ...{ ...local, trust: { kind: "offline" } },
    onPlayer: (player) =>
      createBridge(player, {
        commandsOn: () => [word("felis")],
        onComplete: (line) => {
          asked.push(line);
          return line.startsWith("/felis ") ? ["go", "lobby"] : undefined;
        },
      }).connect({ name: "world", host: "127.0.0.1", port: server.port, secret }),
  });
  const end = async () => {
    await proxy.close();
    await server.close();
    await limbo[Symbol.asyncDispose]();
  };
  return { port: proxy.port, session: entered.promise, asked, [Symbol.asyncDispose]: end };
}

/** The next trees that reach the client. */
function trees(bot: ReturnType<typeof startBot>, count: number): Promise<Tree[]> {
  const seen: Tree[] = [];
  return new Promise((resolve) => {
    const note = (tree: Tree) => {
      if (seen.push(tree) < count) return;
      bot._client.off("declare_commands", note);
      resolve(seen);
    };
    bot._client.on("declare_commands", note);
  });
}

for (const protocol of sampleOf(supportedProtocols, 3)) {
  const version = getVersion(protocol);
  test(
    `a ${version.label} client learns of the proxy's commands beside the server's, and completes them`,
    limit,
    async () => {
      await using fixture = await startFixture([word("menu")]);
      const bot = startBot({ port: fixture.port, name: "Typist", version: version.data });
      assert.deepEqual((await trees(bot, 1)).map(namesIn), [["menu", "felis"]]);
      // The types say texts, the packet has more.
      const found = (await bot.tabComplete("/felis ")) as unknown as { match: string }[];
      assert.deepEqual(
        found.map(({ match }) => match),
        ["go", "lobby"],
      );
      bot.end();
      await once(bot, "end");
    },
  );
}

const version = getVersion(769);

/** A root with so many literals that the packet is large however well it is compressed. */
function largeTree(names: number): Buffer {
  const children = Array.from({ length: names }, (_, index) => varint(index + 1));
  const literals = children.map(() =>
    Buffer.concat([Buffer.of(1, 0), string(randomBytes(12).toString("hex"))]),
  );
  return Buffer.concat([
    varint(version.play.toClient.id("declare_commands")),
    varint(names + 1),
    Buffer.of(0),
    ...[varint(names), ...children, ...literals, varint(0)],
  ]);
}

test(
  "a large tree is extended among hundreds of large packets, and one beyond the limit passes as it is",
  limit,
  async () => {
    await using fixture = await startFixture([word("menu")]);
    const bot = startBot({ port: fixture.port, name: "Typist", version: version.data });
    await trees(bot, 1);
    const { connection } = (await fixture.session).player;
    const received = trees(bot, 3);
    const noise = Buffer.concat([
      varint(version.play.toClient.id("custom_payload")),
      ...[string("test:noise"), randomBytes(15_000)],
    ]);
    for (const names of [2_000, 12_000, 100]) {
      for (let chunk = 0; chunk < 100; chunk++) connection.sendBody(noise);
      connection.sendBody(largeTree(names));
    }
    const found = (await received).map(namesIn);
    assert.deepEqual(
      found.map((names) => [names.length, names.at(-1) === "felis"]),
      [
        [2_001, true],
        [12_000, false],
        [101, true],
      ],
    );
    bot.end();
    await once(bot, "end");
  },
);
