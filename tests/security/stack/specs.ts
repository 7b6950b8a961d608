// An invalid spec, written by somebody with access to the cluster instead of through a face.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connectKube, type KubeObject, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { MinecraftServer, type MinecraftServerSpec, type MinecraftServerStatus } from "@svc/proto";
import { type StackFixture, serverName } from "../stack-fixture.ts";

type Server = KubeObject & { spec: MinecraftServerSpec; status?: MinecraftServerStatus };
const { group, version, plural, kind } = MinecraftServer;
const servers = resource<Server>({ group, version, plural, kind, namespaced: true });
const target = { name: serverName, namespace: "minecraft" };
const reasonsOf = ({ status }: Server) =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: state, reason }) => [type, [state, reason]]),
  );

export function checkSpecs(fixture: () => StackFixture): void {
  test("an invalid storage size fails the server with a reason, and a valid one repairs it", async (t) => {
    const kube = connectKube({ kubeconfigFile: fixture().stack.file().kubeconfig });
    t.after(kube.close);
    const { spec } = await kube.get(servers, target);
    for (const size of ["8 Gigabytes", "-1Gi", "0"]) {
      await kube.patch(servers, target, { merge: { spec: { storage: { size } } } });
      const failed = await until(
        async () => {
          const server = await kube.get(servers, target);
          const isSeen = server.status?.observedGeneration === server.metadata.generation;
          return isSeen && server.status?.phase === "Failed" ? server : undefined;
        },
        15_000,
        `the size ${size} to fail the server`,
      );
      const { Ready, Provisioned } = reasonsOf(failed);
      assert.deepEqual(
        [Ready, Provisioned],
        [
          ["False", "InvalidSpec"],
          ["False", "InvalidSpec"],
        ],
      );
      const { message = "" } = failed.status?.conditions?.find(({ type }) => type === "Provisioned") ?? {};
      assert.ok(message.includes("spec.storage.size") && message.includes(size), message);
    }
    const received = await fixture().asProxy({ path: `/api/v1/internal/servers/${serverName}/status` });
    const info = JSON.parse(received.text) as { phase: string; startGaveUp?: boolean };
    assert.deepEqual([info.phase, info.startGaveUp], ["Failed", true], received.text);

    await kube.patch(servers, target, { merge: { spec: { storage: { size: spec.storage?.size } } } });
    await until(
      async () => {
        const server = await kube.get(servers, target);
        return server.status?.phase === "Stopped";
      },
      15_000,
      "the server to be well again",
    );
  });
}
