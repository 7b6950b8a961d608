import type { ClusterDeps } from "../deps.ts";
import type { BuildRow } from "../row.ts";
import { findBuild } from "../store.ts";
import { type LogFollower, startLogFollower } from "./follower.ts";

/** The logs of all running builds; the leader follows them. */
export function createLogFollowers(deps: ClusterDeps): {
  follow: (running: readonly BuildRow[]) => void;
  close: () => Promise<void>;
} {
  const following = new Map<string, LogFollower>();
  const begin = (row: BuildRow) => {
    const follower = startLogFollower(deps, row);
    following.set(row.id, follower);
    void follower.ended.finally(() => following.delete(row.id));
  };
  // Another replica may have written its end.
  const finish = async (id: string, follower: LogFollower) => {
    const row = await findBuild(deps.db, id);
    if (row) follower.update(row);
    else follower.stop();
  };
  return {
    follow: (running) => {
      const ids = new Set(running.map(({ id }) => id));
      for (const row of running) {
        const known = following.get(row.id);
        if (known) known.update(row);
        else begin(row);
      }
      for (const [id, follower] of following) {
        if (ids.has(id)) continue;
        finish(id, follower).catch((error: Error) =>
          deps.log.warn({ build: id, error: error.message }, "reading the end of a build failed; retrying"),
        );
      }
    },
    close: async () => {
      const all = [...following.values()];
      for (const follower of all) follower.stop();
      await Promise.allSettled(all.map(({ ended }) => ended));
    },
  };
}
