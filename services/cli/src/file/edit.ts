import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { files, type OutputOf } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { editor } from "../config.ts";
import { CommandError, explainError, type Outcome } from "../output.ts";

/** Opens a file in the editor and writes it back, unless somebody else changed it meanwhile. */
export async function editFile(name: string, path: string, { data }: { data: string }): Promise<Outcome> {
  const external = connectExternal(data);
  const read = await external.call(files.read, { name, path });
  if (read.sha256 !== read.content_sha256)
    process.stderr.write("A secret in this file is masked; leave that line unchanged.\n");
  const dir = mkdtempSync(join(tmpdir(), "svc-edit-"));
  const draft = join(dir, basename(path));
  writeFileSync(draft, Buffer.from(read.content, "base64"), { mode: 0o600 });
  const done = await finish(external, { name, path, draft, read }).catch((error: unknown) => {
    throw new CommandError(`${explainError(error)} Your text is kept in ${draft}.`);
  });
  rmSync(dir, { recursive: true, force: true });
  return done;
}

type Draft = { name: string; path: string; draft: string; read: OutputOf<typeof files.read> };

async function finish(external: External, { name, path, draft, read }: Draft): Promise<Outcome> {
  await runEditor(draft);
  const edited = readFileSync(draft);
  if (digestOf(edited) === read.content_sha256)
    return { json: { path, status: "unchanged" }, text: `${path} was not changed.` };
  const answer = await external.call(files.write, {
    ...{ name, path, content: edited.toString("base64"), content_sha256: digestOf(edited) },
    expect_sha256: read.sha256,
  });
  return { json: answer, text: `Saved ${path}; it takes effect at the next start.` };
}

async function runEditor(file: string): Promise<void> {
  // The variable may hold options, so a shell splits it, as git does.
  const child = spawn("/bin/sh", ["-c", `${editor()} "$@"`, "sh", file], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new CommandError(`${editor()} exited with ${code ?? "a signal"}; nothing was saved.`);
}

function digestOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
