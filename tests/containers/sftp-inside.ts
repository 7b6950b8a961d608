// Files of a sleeping server through the container of SFTP, with the port that compose.yaml publishes.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type KeyPair, makeKey } from "../flow/sftp-client.ts";
import type { Stack } from "../flow/stack.ts";
import { killContainer } from "./containment.ts";
import type { Docker } from "./daemon.ts";

const port = 2_222;
const username = "files";

/** A key of the signed-in owner; to be called soon after the sign-in, which is the proof. */
export async function addOwnKey(stack: Stack): Promise<KeyPair> {
  const key = makeKey();
  const file = join(stack.dataDir, "key.pub");
  writeFileSync(file, `${key.line}\n`);
  const added = await stack.svc("keys", "add", file, "--name", "containers");
  assert.equal(added.code, 0, `${added.stderr}${added.stdout}`);
  return key;
}

/** Puts files and gets them back, small and larger than one message, also from a container that was killed in between. */
export async function movesFiles(
  docker: Docker,
  { project, stack, key }: { project: string; stack: Stack; key: KeyPair },
): Promise<void> {
  // It has a world once it has run.
  for (const words of ["create files --owner me", "wake files --wait", "stop files --wait"]) {
    const ran = await stack.svc("server", ...words.split(" "));
    assert.equal(ran.code, 0, `${words}: ${ran.stderr}${ran.stdout}`);
  }
  const files = [
    { path: "/sftp/small.txt", content: Buffer.from("one\n") },
    { path: "/sftp/large.bin", content: randomBytes(12 * 1_048_576) },
  ];
  const client = await connect(port, { username, key });
  await client.ask("mkdir", "/sftp");
  for (const { path, content } of files) await client.write(path, content);
  for (const { path, content } of files) assert.ok((await client.read(path)).equals(content), path);

  await killContainer(docker, project, "sftp");
  await client.closed;
  const again = await connect(port, { username, key });
  assert.deepEqual((await again.list("/sftp")).sort(), ["large.bin", "small.txt"]);
  for (const { path, content } of files) {
    assert.ok((await again.read(path)).equals(content), path);
    await again.ask("unlink", path);
  }
  await again.ask("rmdir", "/sftp");
  again.end();

  await assert.rejects(connect(port, { username, key: makeKey() }), /authentication/i);
  await assert.rejects(connect(port, { username: "another", key }), /authentication/i);
  console.log("SFTP put and got 12 MB, also after its container was killed, and refused a foreign key");
}
