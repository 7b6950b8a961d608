import assert from "node:assert/strict";
import { test } from "node:test";
import { missingServers } from "./differences.ts";

test("only what is missing is made, stopped, in the namespace of this installation and without what was under way", () => {
  const object = (name: string) => ({
    ...{ apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" },
    metadata: { name, namespace: "of-the-other-machine", annotations: { "svc.internal/maintenance": "x" } },
    spec: { image: "demo", subdomain: name, desiredState: "Running" },
  });
  assert.deepEqual(
    missingServers(new Set(["survival"]), [object("survival"), object("kube-system")], "minecraft"),
    [
      {
        ...{ apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" },
        metadata: { name: "survival", namespace: "minecraft" },
        spec: { image: "demo", subdomain: "survival", desiredState: "Stopped" },
      },
    ],
  );
});
