// Passwords are stored as argon2id in PHC form, so that hashes stay verifiable when the cost changes.

import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(argon2);

type Cost = { memory: number; passes: number; parallelism: number };

// OWASP's minimum memory for argon2id: an attempt must not exhaust the service.
const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const hashBytes = 32;
const shape =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,88})\$([A-Za-z0-9+/]{22,88})$/;

/** The PHC string of a password, with a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await run(password, { ...cost, salt, length: hashBytes });
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** Whether a password matches its hash. Without a hash the check takes as long and is false. */
export async function isPassword(password: string, kept: string | null | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = shape.exec(kept ?? "") ?? [];
  if (salt === undefined || hash === undefined) {
    await run(password, { ...cost, salt: Buffer.alloc(saltBytes), length: hashBytes });
    return false;
  }
  const wanted = Buffer.from(hash, "base64");
  const given = await run(password, {
    ...{ memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    ...{ salt: Buffer.from(salt, "base64"), length: wanted.length },
  });
  return timingSafeEqual(given, wanted);
}

function run(password: string, about: Cost & { salt: Buffer; length: number }): Promise<Buffer> {
  const { memory, passes, parallelism, salt, length } = about;
  // Keyboards encode the same password in more than one way.
  const message = password.normalize("NFKC");
  return derive("argon2id", { message, nonce: salt, memory, passes, parallelism, tagLength: length });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
