import type { Task, TaskDone } from "@svc/proto/world-task";
import { openDownload, sendFile, sendFolder, sendStream, sendWorld } from "@svc/world";
import { type Context, targetOf } from "../context.ts";
import { openSource } from "./source.ts";

type What<Kind> = (Task & { mode: "export" })["what"] & { kind: Kind };

/** Sends an archive, a world, a file or a folder to whoever waits at the internal face. */
export async function exportOut(
  { what, url }: Task & { mode: "export" },
  context: Context,
): Promise<TaskDone> {
  const { signal } = context;
  const target = targetOf(url, context);
  switch (what.kind) {
    case "backup":
      return await exportBackup(what, target, context);
    case "world":
      return await exportWorld(what, target, context);
    case "file": {
      await using file = await openDownload(context.world, what.path);
      const send = { ...target, length: file.length, contentType: "application/octet-stream" };
      return toDone(await sendStream(send, file.send));
    }
    case "folder": {
      const onProgress = (bytes: number) => context.onProgress(bytes, 0);
      return toDone(
        await sendStream({ ...target, contentType: "application/zip" }, async (write) => {
          const { skippedNames } = await sendFolder(context.world, what.path, { write, signal, onProgress });
          for (const name of skippedNames) context.say(`left out: ${name}`);
        }),
      );
    }
  }
}

type Target = ReturnType<typeof targetOf>;

/** Byte for byte as it was archived: the face compares the digest with the one it knows (docs/reference/exports.md#content). */
async function exportBackup({ name }: What<"backup">, target: Target, context: Context): Promise<TaskDone> {
  await using source = await openSource({ kind: "archive", name }, context, { isCompared: true });
  const { size: length } = await source.file.stat();
  const contentType = name.endsWith(".gz") ? "application/gzip" : "application/zstd";
  const onProgress = (bytes: number) => context.onProgress(bytes, length);
  return toDone(
    await sendStream({ ...target, length, contentType }, (write) =>
      sendFile(source.file, { length, write, onProgress }),
    ),
  );
}

async function exportWorld({ compression = "gzip" }: What<"world">, target: Target, context: Context) {
  const { world, signal } = context;
  const onProgress = (bytes: number) => context.onProgress(bytes, 0);
  return toDone(
    await sendStream({ ...target, contentType: `application/${compression}` }, (write) =>
      sendWorld(world, { compression, write, signal, onProgress }),
    ),
  );
}

function toDone({ sizeBytes, sha256 }: { sizeBytes: number; sha256: string }): TaskDone {
  return { size_bytes: sizeBytes, sha256 };
}
