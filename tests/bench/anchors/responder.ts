// The answering process of P1, P2 and P3: nothing but NATS, zod where the row says so, and one point query for P3.

import { connect, type Msg } from "@nats-io/transport-node";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { need, serveParent } from "../harness/parent.ts";
import { makeServer, makeServers, serverName } from "./servers.ts";
import { type AnchorDatabase, Ask, Page, PageAsk, ServerInfo } from "./shapes.ts";

const nats = await connect({
  servers: need("ANCHOR_NATS_URL"),
  user: need("ANCHOR_NATS_USER"),
  pass: need("ANCHOR_NATS_PASSWORD"),
});
const db = new Kysely<AnchorDatabase>({
  dialect: new PostgresDialect({
    pool: new pg.Pool({ connectionString: need("ANCHOR_DATABASE_URL"), max: 10 }),
  }),
});
const one = makeServer(0);
const all = makeServers(10_000);

function answer(subject: string, respond: (message: Msg) => unknown): void {
  nats.subscribe(subject, {
    queue: "anchor",
    callback: (error, message) => {
      if (error) throw error;
      void Promise.resolve(respond(message)).then((body) => message.respond(JSON.stringify(body)));
    },
  });
}

answer("anchor.p1", (message) => {
  message.json();
  return one;
});
answer("anchor.p2", (message) => {
  Ask.parse(message.json());
  return ServerInfo.parse(one);
});
answer("anchor.p3", async (message) => {
  const { name } = Ask.parse(message.json());
  const row = await db.selectFrom("servers").selectAll().where("name", "=", name).executeTakeFirstOrThrow();
  return ServerInfo.parse(row.info);
});
answer("anchor.page", (message) => {
  const { from, count } = PageAsk.parse(message.json());
  return Page.parse({ items: all.slice(from, from + count), next: from + count });
});
await nats.flush();

serveParent({
  /** Fills the table of P3. */
  seed: async (count: number) => {
    const rows = Array.from({ length: count }, (_, index) => ({
      name: serverName(index),
      info: JSON.stringify(makeServer(index)),
    }));
    for (let at = 0; at < rows.length; at += 1_000)
      await db
        .insertInto("servers")
        .values(rows.slice(at, at + 1_000))
        .execute();
  },
});
