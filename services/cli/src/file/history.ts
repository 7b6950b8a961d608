import { createHash } from "node:crypto";
import { files, fileVersions } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { isCode } from "../account/refusal.ts";
import { CommandError, type Outcome, planned, sizeText, table } from "../output.ts";
import { lineDiff } from "./line-diff.ts";
import { printable } from "./printable.ts";

type Wanted = { name: string; path: string; id?: string | undefined };

/** Lists the earlier versions of a file, or shows one of them beside the file as it is. */
export async function showHistory({ id, ...about }: Wanted, { data }: { data: string }): Promise<Outcome> {
  checkVersion(id, about);
  const external = connectExternal(data);
  if (id !== undefined) {
    const version = await external.call(fileVersions.read, { ...about, id });
    const { text: now } = await readNow(external, about);
    return { json: version, text: diffText(textOf(version.content), now ?? "") };
  }
  const answer = await external.call(fileVersions.list, about);
  const rows = answer.versions.map((version) => [
    version.id,
    version.replaced_at.slice(0, 19),
    version.by,
    sizeText(version.size),
  ]);
  const none = "Nothing is kept: no write through svc has replaced this file as text.";
  const text = rows.length === 0 ? none : table([["VERSION", "REPLACED", "BY", "SIZE"], ...rows]);
  return { json: answer, text };
}

/** Writes an earlier version over the file, unless that changes meanwhile. */
export async function undo(
  { id, ...about }: Wanted,
  { data, yes }: { data: string; yes?: boolean },
): Promise<Outcome> {
  checkVersion(id, about);
  const external = connectExternal(data);
  const wanted = id ?? (await external.call(fileVersions.list, about)).versions[0]?.id;
  if (wanted === undefined) throw new CommandError(`no earlier version of ${about.path} is kept`);
  const version = await external.call(fileVersions.read, { ...about, id: wanted });
  const now = await readNow(external, about);
  if (now.sha256 === version.sha256)
    return {
      json: { path: about.path, status: "unchanged" },
      text: `${about.path} is that version already.`,
    };
  if (!yes) {
    const plan = `Plan: write version ${wanted} over ${about.path}.`;
    return planned({ ...about, id: wanted }, `${plan}\n${diffText(now.text ?? "", textOf(version.content))}`);
  }
  const answer = await external.call(files.write, {
    ...{ ...about, content: version.content, content_sha256: digestOf(version.content) },
    ...(now.sha256 === undefined ? { create_only: true } : { expect_sha256: now.sha256 }),
  });
  return { json: answer, text: `${about.path} is as it was before ${version.replaced_at.slice(0, 19)}.` };
}

function checkVersion(id: string | undefined, { name, path }: Wanted): void {
  if (id === undefined || /^[0-9a-f]{16}$/.test(id)) return;
  throw new CommandError(
    `${id} is no version of ${path}; list them with: \`svc files history ${name} ${path}\``,
  );
}

type Now = { text: string | undefined; sha256: string | undefined };

/** The file as it is; nothing where it is gone. */
async function readNow(external: External, about: { name: string; path: string }): Promise<Now> {
  try {
    const { content, sha256 } = await external.call(files.read, about);
    return { text: textOf(content), sha256 };
  } catch (error) {
    if (isCode(error, "not_found")) return { text: undefined, sha256: undefined };
    throw error;
  }
}

const textOf = (content: string) => Buffer.from(content, "base64").toString("utf8");
const digestOf = (content: string) =>
  createHash("sha256").update(Buffer.from(content, "base64")).digest("hex");

function diffText(before: string, after: string): string {
  const lines = lineDiff(before, after);
  return lines.length === 0 ? "It has the same lines." : lines.map(printable).join("\n");
}
