// What can be updated, and how an operator does it.

import type { ComponentName } from "../config.ts";

/** Steps of an update; svc carries out none of them. */
export const steps: Readonly<Record<ComponentName, readonly string[]>> = {
  platform: [
    "Take a bundle: svc db backup --label manual",
    "Install the new release; its migrate step runs `svc migrate up`, which takes a pre-migrate bundle first",
    "Restart all services and check with svc doctor",
    "To go back: svc db restore PRE-MIGRATE-BUNDLE, then install the old release",
  ],
  proxy: [
    "The proxy is released with the platform; update it after the services",
    "Restart it while few players are on: they are disconnected",
  ],
  postgresql: [
    "Take a bundle: svc db backup --label manual, and check it: svc db verify",
    "Within a major version: install the packages and restart PostgreSQL; services answer 503 meanwhile",
    "To a new major version: use a new server and svc db restore into it",
  ],
  nats: [
    "Install the new nats-server and restart it; services reconnect by themselves",
    "Check with svc doctor that no service waits for a stream",
  ],
  node: ["Node comes with the image of a release; on a host of your own install it and restart the services"],
  kubernetes: [
    "Read the release notes for removed API versions; svc needs 1.28 or later",
    "Update the control plane, then one node at a time: drain, update, uncordon",
  ],
};
