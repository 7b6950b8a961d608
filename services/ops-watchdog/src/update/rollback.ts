// What to restore to go back behind an update: pure (docs/reference/updates.md#rollback).
//
// | bundles that can be used          | database           | answer                                            |
// |-----------------------------------|--------------------|---------------------------------------------------|
// | one has fewer migrations          | is read            | restore the newest such one                       |
// | all have as many                  | is read            | reinstall: no migration was applied since the first |
// | one was taken before a migration  | cannot be read     | restore the newest such one                       |
// | none                              |                    | none                                              |

import type { databaseBackups } from "@svc/proto";
import type { PlanStep } from "./plan.ts";

export type RollbackBundle = {
  name: string;
  label: databaseBackups.BundleLabel;
  takenAt: Date;
  /** Version of the svc that took it. */
  version: string;
  /** Migrations of all schemas together. */
  migrations: number;
};

type Rollback = { migrations?: number; steps: PlanStep[] } & (
  | {
      kind: "restore";
      bundle: RollbackBundle;
      /** Version that ran before, where a bundle tells. */
      release?: string;
      /** No migration was applied since: an update after this time needs no restore. */
      same_schema_since?: Date;
    }
  | { kind: "reinstall"; since: Date; release?: string }
  | { kind: "none" }
);

/** `bundles`: those that can be used, newest first. `migrations`: of the database; undefined when it cannot be read. */
export function decideRollback(bundles: readonly RollbackBundle[], migrations: number | undefined): Rollback {
  const known = migrations === undefined ? {} : { migrations };
  const bundle =
    migrations === undefined
      ? bundles.find(({ label }) => label === "pre-migrate")
      : bundles.find((one) => one.migrations < migrations);
  const same = bundles.findLast((one) => one.migrations === migrations);
  if (!bundle) {
    if (!same) return { kind: "none", steps: [], ...known };
    const release = releaseBefore(bundles, bundles[0]?.takenAt);
    return {
      kind: "reinstall",
      since: same.takenAt,
      ...release,
      ...known,
      steps: reinstall(release.release),
    };
  }
  const release = releaseBefore(bundles, bundle.takenAt);
  return {
    ...{ kind: "restore", bundle, ...release, ...known, steps: restore(bundle, release.release) },
    ...(same && { same_schema_since: same.takenAt }),
  };
}

/** A pre-migrate bundle is taken by the new release, any other by the one that ran. */
function releaseBefore(bundles: readonly RollbackBundle[], at: Date | undefined): { release?: string } {
  const found = bundles.find(({ label, takenAt }) => label !== "pre-migrate" && at && takenAt <= at);
  return found ? { release: found.version } : {};
}

function getRelease(release = "RELEASE"): PlanStep {
  return {
    title:
      "Get the old release beside the new one: its checkout, or the images svc, svc-agents, svc-builder and svc-scanner",
    commands: [
      `git worktree add ../svc-${release} ${release} && cd ../svc-${release} && npm ci  # checkout`,
      `images: { services: REGISTRY/svc:${release}, agents: REGISTRY/svc-agents:${release}, builder: REGISTRY/svc-builder:${release}, scanner: REGISTRY/svc-scanner:${release} }  # cluster, in values.yaml`,
    ],
    undo: "nothing has changed",
  };
}

const start: PlanStep = {
  title: "Start the old release",
  commands: [
    "svc down && npm run up  # local stack",
    "docker compose up --build --detach  # compose.yaml",
    "svc manifests render --values values.yaml | kubectl apply --filename -  # cluster",
  ],
  undo: "start the new release; it migrates again",
};
const check: PlanStep = { title: "Check", commands: ["svc doctor"], undo: "nothing has changed" };

function reinstall(release: string | undefined): PlanStep[] {
  return [getRelease(release), start, check];
}

function restore({ name }: RollbackBundle, release: string | undefined): PlanStep[] {
  return [
    {
      title: "Keep what is there now",
      commands: ["svc db backup", `svc db verify ${name}`],
      undo: "nothing has changed",
    },
    getRelease(release),
    {
      title:
        "With the old release, while PostgreSQL and NATS run: restore the bundle. The new release would migrate it again",
      commands: [
        `svc db restore ${name}  # local stack, with its --data`,
        `docker compose run --rm migrate --env-file=/config/env/migrate.env services/cli/src/main.ts db restore ${name} --yes  # compose.yaml`,
        `svc db restore ./${name}  # cluster: with SVC_ADMIN_DATABASE_URL, SVC_ROLE_PASSWORDS_FILE and the NATS user migrate`,
      ],
      undo: null,
      why: "What was written after the bundle is gone from the database; a pre-restore bundle is taken first, and only the new release can restore it",
    },
    start,
    { ...check, commands: ["svc db apply-servers", "svc doctor"] },
  ];
}
