// What is applied once, before anything else: the namespaces. The custom resource is in deploy/crd.

import { head, type ObjectFile, type V } from "./common.ts";

const level = (name: string) => `pod-security.kubernetes.io/${name}`;

// Three things need more than `restricted`: the init step `prepare-data` and world Jobs, which mount worlds, and the steps of
// a build that own the files of an image (ADR 0017). Anything else that asks for more shows up in warnings and the audit log.
const guarded = {
  [level("enforce")]: "baseline",
  [level("warn")]: "restricted",
  [level("audit")]: "restricted",
};

export function namespaceFile(v: V): ObjectFile {
  const { control, game, build } = v.namespaces;
  return {
    file: "namespaces.yaml",
    about: "Game servers and their worlds, the control plane and its accounts, image builds.",
    objects: [
      head({ apiVersion: "v1", kind: "Namespace", name: game, labels: guarded }),
      head({ apiVersion: "v1", kind: "Namespace", name: control }),
      head({ apiVersion: "v1", kind: "Namespace", name: build, labels: guarded }),
    ],
  };
}
