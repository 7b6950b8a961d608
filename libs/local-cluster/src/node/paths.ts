import { join } from "node:path";

/** The folders of pods: `<podsDir>/<uid>/{volumes/<name>,<container>/{root,runs/<n>/{log,times,pid,exit}}}`. */
export type PodPaths = {
  dir: string;
  volume(name: string): string;
  root(container: string): string;
  runs(container: string): string;
  run(container: string, attempt: number): string;
};

export function podPaths(podsDir: string, uid: string): PodPaths {
  const dir = join(podsDir, uid);
  const runs = (container: string) => join(dir, "containers", container, "runs");
  return {
    dir,
    volume: (name) => join(dir, "volumes", name),
    root: (container) => join(dir, "containers", container, "root"),
    runs,
    run: (container, attempt) => join(runs(container), String(attempt)),
  };
}
