// The file manager's operations on a stopped world (docs/reference/files.md#operations).

import type { Task, TaskDone } from "@svc/proto/world-task";
import {
  archiveFiles,
  commitUpload,
  fetchStream,
  findChanged,
  installPlugins,
  listFolder,
  listPlugins,
  listSets,
  makeFolder,
  putBack as putSetBack,
  readSmallFile,
  removePath,
  renamePath,
  reportCommitted,
  searchFiles,
  setAside as setFilesAside,
  unzip as unzipArchive,
  writeSmallFile,
} from "@svc/world";
import { limits } from "../config.ts";
import { type Context, targetOf } from "../context.ts";

type Of<Name extends Task["mode"]> = Task & { mode: Name };

export async function list({ path, from }: Of<"list">, { world }: Context): Promise<TaskDone> {
  const most = limits.listEntries;
  const { listing, truncated, freeBytes } = await listFolder(world, path, { most, from });
  return { listing, truncated, free_bytes: freeBytes ?? null };
}

export async function read({ path }: Of<"read">, { world }: Context): Promise<TaskDone> {
  const { content, sha256, contentSha256 } = await readSmallFile(world, path, limits.readBytes);
  return { content: content.toString("base64"), sha256, content_sha256: contentSha256 };
}

export async function search(task: Of<"search">, { world, signal }: Context): Promise<TaskDone> {
  const { path, text, in: where, match_case: matchCase } = task;
  const plan = { path, text, matchCase, in: where, signal, limits: limits.search };
  return { found: await searchFiles(world, plan) };
}

export async function write(task: Of<"write">, { world, content }: Context): Promise<TaskDone> {
  const { path, content_sha256, expect_sha256, create_only } = task;
  const { sha256, previous } = await writeSmallFile(world, {
    path,
    content: content(),
    contentSha256: content_sha256,
    expectSha256: expect_sha256,
    createOnly: create_only,
    mostPreviousBytes: limits.previousBytes,
  });
  return { sha256, ...(previous && { previous: previous.toString("base64") }) };
}

export async function mkdir({ path }: Of<"mkdir">, { world }: Context): Promise<TaskDone> {
  await makeFolder(world, path);
  return {};
}

export async function remove({ path, only }: Of<"delete">, { world }: Context): Promise<TaskDone> {
  await removePath(world, path, only);
  return {};
}

export async function rename({ path, to }: Of<"rename">, { world }: Context): Promise<TaskDone> {
  await renamePath(world, path, to);
  return {};
}

export async function upload(task: Of<"upload">, context: Context): Promise<TaskDone> {
  const { path, overwrite, url, size } = task;
  const { world, onProgress, say } = context;
  const target = targetOf(url, context);
  const { previous } = await commitUpload(world, {
    path,
    overwrite,
    parts: context.parts(),
    onProgress,
    content: fetchStream(target),
    mostPreviousBytes: limits.previousBytes,
  });
  // The file is in place whether or not this arrives; an upload that stays staged goes with its session.
  await reportCommitted(target).catch((error: Error) => say(`committed, but not reported: ${error.message}`));
  return { size_bytes: size, ...(previous && { previous: previous.toString("base64") }) };
}

export async function unzip(task: Of<"unzip">, context: Context): Promise<TaskDone> {
  const { path, overwrite, skip_protected: skipProtected } = task;
  const { world, signal, onProgress } = context;
  const plan = { world, path, overwrite, skipProtected, signal, onProgress };
  const { files, bytes, leftOut, leftOutCount } = await unzipArchive(plan);
  return { files, bytes, ...(leftOut && { left_out: leftOut, left_out_count: leftOutCount }) };
}

export async function archive({ path, names }: Of<"archive">, { world, signal }: Context): Promise<TaskDone> {
  const { entries, sizeBytes, leftOut, leftOutCount } = await archiveFiles(world, {
    ...{ path, names, signal, limits: limits.archive },
  });
  return {
    ...{ entries, size_bytes: sizeBytes },
    ...{ left_out_count: leftOutCount, archive_left_out: leftOut },
  };
}

export async function plugins(_task: Of<"plugins">, { world, signal }: Context): Promise<TaskDone> {
  const { truncated, ...plugins } = await listPlugins(world, { most: limits.plugins, signal });
  return { plugins, truncated };
}

export async function install(task: Of<"install">, context: Context): Promise<TaskDone> {
  const { url, put, drop, loader, game_version } = task;
  const { world, onProgress, say, signal } = context;
  const target = url === undefined ? undefined : targetOf(url, context);
  const sizes = target ? context.parts().map(({ size }) => size) : [];
  const content = target ? fetchStream(target) : none();
  await installPlugins(world, { put, drop, sizes, content, loader, game_version, onProgress, signal });
  if (target)
    await reportCommitted(target).catch((error: Error) =>
      say(`installed, but not reported: ${error.message}`),
    );
  return { files: put.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function* none(): AsyncGenerator<Buffer> {}

export async function changed({ since }: Of<"changed">, { world }: Context): Promise<TaskDone> {
  const most = limits.asideFiles;
  const found = since ? await findChanged(world, since, most) : { files: [], isTruncated: false };
  return {
    changed: found.files.slice(0, most),
    truncated: found.isTruncated || found.files.length > most,
    sets: await listSets(world, most),
  };
}

export async function setAside({ id, since }: Of<"set-aside">, { world }: Context): Promise<TaskDone> {
  return { changed: await setFilesAside(world, { id, since, most: limits.asideFiles }) };
}

export async function putBack({ id }: Of<"put-back">, { world }: Context): Promise<TaskDone> {
  return { changed: await putSetBack(world, id, limits.asideFiles) };
}
