// Publishes the base images in the registry that standard input names as JSON, and ends. A process of its own: the HTTP
// client would stay in the supervisor.

import { json } from "node:stream/consumers";
import { publishBaseImages } from "./base-images.ts";

const { host, password } = (await json(process.stdin)) as { host: string; password: string };
try {
  await publishBaseImages({ host, password });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
