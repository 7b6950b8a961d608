// What is kept of an image of the registry, and which program of the image table may run it. Pure.

import { runsLabel } from "@svc/proto/base-image";
import * as z from "zod";
import { ImageError } from "./image-error.ts";
import type { Base, TableImage } from "./table.ts";

const strings = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);

/** The parts of an image's configuration that matter here. */
export const ImageConfig = z.object({
  config: z
    .object({
      Env: strings,
      Entrypoint: strings,
      Cmd: strings,
      Labels: z
        .record(z.string(), z.string())
        .nullish()
        .transform((value) => value ?? {}),
    })
    .prefault({}),
  rootfs: z.object({ diff_ids: z.array(z.string().regex(/^sha256:[0-9a-f]{64}$/)) }),
});
export type ImageConfig = z.infer<typeof ImageConfig>;

/** The entry of the table that an image is built FROM; undefined without the label. */
export function baseNameOf({ config }: ImageConfig): string | undefined {
  return config.Labels[runsLabel];
}

/** The entry of the table with what the image may set. Throws an ImageError that says what to change in the Dockerfile. */
export function derive(
  reference: string,
  { config }: ImageConfig,
  found: TableImage | undefined,
): TableImage & { base: Base } {
  const name = config.Labels[runsLabel];
  if (name === undefined) {
    throw new ImageError(
      `image "${reference}" is built on nothing that this cluster can run: it has no label ${runsLabel}. Build it FROM svc/demo-server of this registry, or use a real Kubernetes`,
    );
  }
  const base = found?.base;
  if (found === undefined || base === undefined) {
    throw new ImageError(
      `image "${reference}" is built on "${name.slice(0, 200)}", which this cluster can't run`,
    );
  }
  if (config.Cmd.length > 0 || JSON.stringify(config.Entrypoint) !== JSON.stringify(base.entrypoint)) {
    throw new ImageError(
      `image "${reference}" has an ENTRYPOINT or CMD of its own; this cluster runs only that of its base. Remove it from the Dockerfile, or use a real Kubernetes`,
    );
  }
  return { ...found, base, env: { ...found.env, ...acceptedEnv(config.Env, base.env) } };
}

function acceptedEnv(entries: readonly string[], accepted: readonly string[]): Record<string, string> {
  const pairs = entries.map((entry) => {
    const at = entry.indexOf("=");
    return [entry.slice(0, Math.max(at, 0)), entry.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs.filter(([name]) => accepted.includes(name)));
}
