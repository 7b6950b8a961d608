// Table of contents: which handler answers which contract.

import type { Running, Runtime } from "@svc/service";
import type { Settings } from "./config.ts";
import type { Tables } from "./database.ts";
import { serveImages } from "./image/serve.ts";
import { seedRecommended } from "./image/store.ts";

type BuildsRuntime = Pick<Runtime<Settings, Tables>, "settings" | "mesh" | "store">;

/** Starts builds on a connected mesh and a checked schema. */
export async function startBuilds({ settings, mesh, store }: BuildsRuntime): Promise<Running> {
  const { db } = store;
  await seedRecommended(db, settings.builds.recommended);
  serveImages({ db, mesh, settings });
  return {};
}
