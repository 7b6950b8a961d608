import { createHash } from "node:crypto";
import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { answerLarge } from "./large-answer.ts";
import { readTarget } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.read */
export const read =
  (deps: FileDeps): Handler<typeof files.read> =>
  async (context, { name, path: given }) => {
    const path = readTarget(given);
    const task = { mode: "read", path } as const;
    const done = await runOnWorld(deps, { ...context, server: name, to: files.read, reads: [path], task });
    const { content, sha256, content_sha256 } = done;
    if (content === undefined || sha256 === undefined || content_sha256 === undefined) {
      throw context.fault("read_damaged");
    }
    // It came through a log, which may lose parts.
    const bytes = Buffer.from(content, "base64");
    if (bytes.length > deps.settings.storage.read_bytes) throw context.fault("too_large");
    if (createHash("sha256").update(bytes).digest("hex") !== content_sha256) {
      throw context.fault("read_damaged");
    }
    return answerLarge(deps, context, { path, content, sha256, content_sha256 });
  };
