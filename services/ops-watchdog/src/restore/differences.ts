// Where the rows of servers and the objects of the cluster differ, as after a restore.

import { isKubeError, type Kube } from "@svc/kube";
import { systemNames } from "@svc/proto";
import { minecraftServers, type ServerObject } from "../bundle/server-objects.ts";
import { connect } from "../bundle/snapshot.ts";

export type Differences = {
  /** A row without an object: its server cannot start. */
  without_object: string[];
  /** An object without a row: nobody owns it. */
  without_row: string[];
};

/** The login gate and the lobby have no row. */
const system: ReadonlySet<string> = systemNames;

export async function findDifferences(
  url: string,
  { kube, namespace }: { kube: Kube; namespace: string },
): Promise<Differences> {
  const rows = await serverRows(url);
  const { items } = await kube.list(minecraftServers, { namespace });
  const objects = new Set(items.map(({ metadata }) => metadata.name));
  return {
    without_object: [...rows].filter((name) => !objects.has(name)).sort(),
    without_row: [...objects].filter((name) => !rows.has(name) && !system.has(name)).sort(),
  };
}

async function serverRows(url: string): Promise<Set<string>> {
  const client = await connect(url, "svc-differences");
  try {
    const { rows } = await client.query<{ name: string }>(
      "select name from lifecycle.servers where deleted_at is null",
    );
    return new Set(rows.map(({ name }) => name));
  } finally {
    await client.end();
  }
}

/**
 * Objects of a bundle whose names are missing in the cluster, stopped and for the namespace of this installation, which a bundle
 * from elsewhere does not know; what exists is never changed.
 */
export function missingServers(
  missing: ReadonlySet<string>,
  objects: readonly ServerObject[],
  namespace: string,
): ServerObject[] {
  return objects
    .filter(({ metadata }) => missing.has(metadata.name))
    .map((object) => {
      const { annotations: _annotations, ...metadata } = object.metadata;
      const spec = { ...(object.spec as object), desiredState: "Stopped" };
      return { ...object, metadata: { ...metadata, namespace }, spec };
    });
}

export async function applyServers(kube: Kube, objects: readonly ServerObject[]): Promise<string[]> {
  const made: string[] = [];
  for (const object of objects) {
    try {
      await kube.create(minecraftServers, object);
      made.push(object.metadata.name);
    } catch (error) {
      if (!isKubeError(error, 409)) throw error;
    }
  }
  return made;
}
