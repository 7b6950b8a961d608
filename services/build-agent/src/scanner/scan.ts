// The step `scan`: the scanner's report of the built image, with all packages.

import { createWriteStream } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import * as buildJobs from "@svc/proto/build-job";
import type { Settings } from "../config.ts";
import { openImageArchive } from "../image/archive.ts";
import type { StepContext } from "../step.ts";
import { openTrivy, prepareDatabase, recordDatabase } from "./trivy.ts";

const { buildFiles } = buildJobs;

export async function scanImage(settings: Settings, context: StepContext): Promise<undefined> {
  const trivy = await openTrivy(settings, context);
  try {
    const layout = join(trivy.work, "layout");
    await writeLayout(join(settings.folder("image"), buildFiles.imageTar), layout);
    const database = await prepareDatabase(settings, trivy);
    const at = (file: string) => join(settings.folder("reports"), file);
    const output = ["--format", "json", "--output", at(buildFiles.report), "--list-all-pkgs"];
    await trivy.run(["image", "--input", layout, ...output, "--no-progress", ...database.args]);
    await recordDatabase(database, at(buildFiles.database));
    await writeFile(
      at(buildFiles.scanner),
      JSON.stringify({ name: "trivy", version: await trivy.version() }),
    );
  } finally {
    await rm(trivy.work, { recursive: true, force: true });
  }
  return undefined;
}

/** Trivy reads an image layout as a folder, and as a tar only that of Docker. */
async function writeLayout(archive: string, layout: string): Promise<void> {
  await using image = await openImageArchive(archive);
  const { manifest, raw } = image;
  const blobs = join(layout, "blobs", "sha256");
  await mkdir(blobs, { recursive: true });
  const pathOf = (digest: string) => join(blobs, digest.slice("sha256:".length));
  for (const blob of [manifest.config, ...manifest.layers])
    await pipeline(image.open(blob), createWriteStream(pathOf(blob.digest)));
  await writeFile(pathOf(raw.digest), raw.bytes);
  const descriptor = { mediaType: raw.mediaType, digest: raw.digest, size: raw.bytes.length };
  await writeFile(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [descriptor] }));
  await writeFile(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
}
