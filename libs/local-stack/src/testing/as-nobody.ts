// Starts and stops both servers as whoever runs this: as-nobody.ts DIR NATS_SERVER
import { join } from "node:path";
import pg from "pg";
import { startNats } from "../nats/nats.ts";
import { startPostgres } from "../postgres/postgres.ts";

const [dir, binary] = process.argv.slice(2);
if (!dir || !binary) throw new Error("usage: as-nobody.ts DIR NATS_SERVER");

const postgres = await startPostgres({
  dataDir: join(dir, "postgres"),
  password: "secret",
  isDurable: false,
});
const client = new pg.Client(postgres.url);
await client.connect();
await client.query("create table note (text text)");
await client.end();
await postgres.stop();
const nats = await startNats({ binary, dataDir: join(dir, "nats") });
await nats.stop();
console.log("both servers ran");
