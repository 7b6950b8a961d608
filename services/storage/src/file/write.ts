import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import { decodeContent } from "./content.ts";
import type { FileDeps } from "./deps.ts";
import { readTarget } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.write */
export const write =
  (deps: FileDeps): Handler<typeof files.write> =>
  async (context, { name, path: given, ...wanted }) => {
    const path = readTarget(given);
    const bytes = decodeContent(wanted, deps.settings.storage.write_bytes);
    const { expect_sha256, create_only, content_sha256: sha256 = "" } = wanted;
    const task = {
      mode: "write",
      path,
      content_sha256: sha256,
      ...(expect_sha256 !== undefined && { expect_sha256 }),
      ...(create_only !== undefined && { create_only }),
    } as const;
    const change = { action: "file.write", path };
    await runOnWorld(deps, {
      ...context,
      server: name,
      to: files.write,
      writes: [path],
      task,
      change,
      secret: { content: bytes },
    });
    return { path, status: "written" as const, sha256 };
  };
