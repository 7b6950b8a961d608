import { builds } from "./builds.ts";
import { gateway } from "./gateway.ts";
import type { Dashboard } from "./grafana.ts";
import { mesh } from "./mesh.ts";
import { offsite } from "./offsite.ts";
import { overview } from "./overview.ts";
import { players } from "./players.ts";
import { servers } from "./servers.ts";
import { storage } from "./storage.ts";

/** The dashboards of `deploy/dashboards`. */
export const dashboards: readonly Dashboard[] = [
  overview,
  servers,
  players,
  gateway,
  storage,
  offsite,
  builds,
  mesh,
];
