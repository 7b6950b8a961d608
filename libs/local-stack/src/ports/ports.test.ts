import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { scratchDir } from "../testing/scratch.ts";
import { findFreePort } from "./free-port.ts";
import { findPortHolder } from "./holder.ts";
import { choosePorts, defaultPorts } from "./ports.ts";

/** Undefined when somebody else on this machine has the port: then it is taken all the same. */
async function hold(port: number) {
  const server = createServer();
  const isOurs = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port }, () => resolve(true));
  });
  if (!isOurs) return undefined;
  return { close: () => new Promise((resolve) => server.close(resolve)) };
}

test("a taken port is refused with its number, its use and who has it", async () => {
  using scratch = scratchDir();
  const file = join(scratch.path, "ports.json");
  const port = defaultPorts["mail-page"];
  const holder = await hold(port);
  const attempt = choosePorts({ mode: "fixed", file, needed: ["mail-page"] });
  const words = `port ${port} \\(mail-page\\) is taken by ${holder ? `pid ${process.pid} ` : ""}.+; free it, or use --ports auto`;
  await assert.rejects(attempt, new RegExp(words));
  await holder?.close();
});

test("a preferred port that is taken gives way to a free one, which stays", async () => {
  using scratch = scratchDir();
  const file = join(scratch.path, "ports.json");
  const options = { mode: "fixed", file, needed: ["mail-page"], preferred: ["mail-page"] } as const;
  const holder = await hold(defaultPorts["mail-page"]);
  const first = await choosePorts(options);
  assert.notEqual(first["mail-page"], defaultPorts["mail-page"]);
  assert.deepEqual(await choosePorts(options), first);
  if (!holder) return;
  await holder.close();
  assert.equal((await choosePorts(options))["mail-page"], defaultPorts["mail-page"]);
});

test("automatic ports differ from each other and stay the same on the next run", async () => {
  using scratch = scratchDir();
  const file = join(scratch.path, "ports.json");
  const options = {
    mode: "auto",
    file,
    needed: ["gateway-external", "game"],
    extra: ["gateway-external-2"],
  } as const;
  const first = await choosePorts(options);
  const names = ["gateway-external", "game", "gateway-external-2"];
  assert.equal(new Set(names.map((name) => first[name])).size, 3);
  assert.notEqual(first["gateway-external"], defaultPorts["gateway-external"]);
  assert.deepEqual(await choosePorts(options), first);
});

test("a remembered port that somebody took meanwhile is replaced, the others stay", async () => {
  using scratch = scratchDir();
  const file = join(scratch.path, "ports.json");
  const options = { mode: "auto", file, needed: ["gateway-external", "game"] } as const;
  const first = await choosePorts(options);
  const holder = await hold(first.game);
  const second = await choosePorts(options);
  assert.notEqual(second.game, first.game);
  assert.equal(second["gateway-external"], first["gateway-external"]);
  await holder?.close();
});

test("a damaged memory of ports is as good as none", async () => {
  using scratch = scratchDir();
  const file = join(scratch.path, "ports.json");
  writeFileSync(file, "{ not json");
  const ports = await choosePorts({ mode: "auto", file, needed: ["game"] });
  assert.ok(ports.game > 0);
});

test("a port that nobody listens on has no holder", async () => {
  assert.equal(findPortHolder(await findFreePort()), undefined);
});
