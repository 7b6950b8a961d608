// The steps of an update and of the way back: pure (docs/reference/updates.md#plan). svc carries out none of them.

import type { ComponentName } from "../config.ts";

export type PlanStep = {
  title: string;
  /** What to type; what follows `#` says on which kind of installation. */
  commands: string[];
  /** How it is undone; null = it cannot be, and `why` says what that means. */
  undo: string | null;
  why?: string;
};

const nothingChanged = "nothing has changed";

const takeBundle: PlanStep = {
  title: "Take a bundle and read it back",
  commands: ["svc db backup", "svc db verify"],
  undo: nothingChanged,
};

const platform: readonly PlanStep[] = [
  takeBundle,
  {
    title: "Get the new release; keep the old checkout and images",
    commands: [
      "git fetch --tags && git checkout RELEASE && npm ci  # checkout",
      "docker build --file deploy/images/Dockerfile --tag REGISTRY/svc:RELEASE . && docker push REGISTRY/svc:RELEASE  # cluster; also svc-agents, svc-builder and svc-scanner",
    ],
    undo: "use the old ones",
  },
  {
    title: "Migrate and start: the migration first, then services in any order, gateways, and the proxy",
    commands: [
      "svc down && npm run up  # local stack",
      "docker compose up --build --detach  # compose.yaml",
      "svc manifests prerequisites --values values.yaml | kubectl apply --server-side --filename -  # cluster",
      "svc manifests render --values values.yaml | kubectl apply --filename -  # cluster",
    ],
    undo: null,
    why: "Migrations only go forward. A pre-migrate bundle is taken first, and nothing is migrated if that fails. `svc update rollback` names it; going back loses what was written after it",
  },
  {
    title: "Check",
    commands: ["svc doctor", "svc db check", "svc alerts list"],
    undo: nothingChanged,
  },
];

const steps: Readonly<Record<ComponentName, readonly PlanStep[]>> = {
  platform,
  proxy: [
    {
      title:
        "Restart the proxy with the release of the platform, after the services, while few players are on: they are disconnected",
      commands: [
        "svc down && npm run up  # local stack",
        "kubectl -n svc rollout restart deployment/proxy  # cluster",
      ],
      undo: "start the old release of it; contracts with the services only grow within a release",
    },
  ],
  postgresql: [
    takeBundle,
    {
      title:
        "Within a major version: install the packages and restart PostgreSQL; services answer 503 meanwhile",
      commands: [],
      undo: "install the old packages; the data folder is the same within a major version",
    },
    {
      title: "To a new major version: start a new server beside the old one and restore into it",
      commands: ["svc db restore BUNDLE  # with SVC_ADMIN_DATABASE_URL of the new server"],
      undo: "point the services to the old server; what was written to the new one is lost",
    },
  ],
  nats: [
    {
      title:
        "Install the new nats-server and restart it, of three one after the other; services reconnect by themselves",
      commands: ["svc doctor"],
      undo: null,
      why: "An older nats-server may not read the files of a newer one. Streams and views can be rebuilt: `svc db restore` does it with the newest bundle",
    },
  ],
  node: [
    {
      title:
        "Node comes with the image of a release; on a host of your own install it and restart the services",
      commands: ["svc down && npm run up  # local stack"],
      undo: "install the old one and restart",
    },
  ],
  kubernetes: [
    {
      title: "Read the release notes for removed API versions; svc needs 1.28 or later",
      commands: [],
      undo: nothingChanged,
    },
    {
      title: "Update the control plane",
      commands: [],
      undo: null,
      why: "A control plane cannot go back a minor version; keep a snapshot of etcd",
    },
    {
      title: "Update one node at a time; its servers stop",
      commands: ["kubectl drain NODE --ignore-daemonsets --delete-emptydir-data", "kubectl uncordon NODE"],
      undo: "install the old kubelet on the node",
    },
  ],
};

/** What svc runs on comes before svc, and the services before their proxy. */
const order: readonly ComponentName[] = ["postgresql", "nats", "kubernetes", "node", "platform", "proxy"];

type ComponentPlan = { name: ComponentName; current?: string; latest?: string; steps: PlanStep[] };

/** `RELEASE` is the version that the feed names, where it is known. */
export function planUpdates(
  wanted: readonly { name: ComponentName; current?: string | undefined; latest?: string | undefined }[],
): ComponentPlan[] {
  return wanted
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map(({ name, current, latest }) => ({
      name,
      ...(current !== undefined && { current }),
      ...(latest !== undefined && { latest }),
      steps: steps[name].map((step) => ({
        ...step,
        commands: step.commands.map((line) => line.replaceAll("RELEASE", latest ?? "RELEASE")),
      })),
    }));
}

/** Titles of the steps of one component. */
export function titlesOf(name: ComponentName): string[] {
  return steps[name].map(({ title }) => title);
}
