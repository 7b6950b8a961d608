// What is applied once, before anything else: the namespaces. The custom resource is in deploy/crd.

import { head, type ObjectFile, type V } from "./common.ts";

const level = (name: string) => `pod-security.kubernetes.io/${name}`;

// Two steps of a build own the files of an image and need more than `restricted` (ADR 0017); everything of a game does not.
const guarded = (enforced: "baseline" | "restricted") => ({
  [level("enforce")]: enforced,
  [level("warn")]: "restricted",
  [level("audit")]: "restricted",
});

export function namespaceFile(v: V): ObjectFile {
  const { control, game, build } = v.namespaces;
  return {
    file: "namespaces.yaml",
    about: "Game servers and their worlds, the control plane and its accounts, image builds.",
    objects: [
      head({ apiVersion: "v1", kind: "Namespace", name: game, labels: guarded("restricted") }),
      head({ apiVersion: "v1", kind: "Namespace", name: control }),
      head({ apiVersion: "v1", kind: "Namespace", name: build, labels: guarded("baseline") }),
    ],
  };
}
