import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runsLabel } from "@svc/proto/base-image";
import { startMemoryRegistry } from "@svc/registry/testing";
import type { Container } from "../controllers/objects.ts";
import { PODS } from "../controllers/refs.ts";
import type { TestCluster } from "../testing/cluster.ts";
import { awaitPod, isOver, podObject, readLog, startTestCluster } from "../testing/cluster.ts";
import { file, pushImage } from "../testing/push-image.ts";

let cluster: TestCluster;
let registry: Awaited<ReturnType<typeof startMemoryRegistry>>;
before(async () => {
  registry = await startMemoryRegistry();
  cluster = await startTestCluster({ registry: registry.host });
});
after(async () => {
  await cluster.close();
  await registry.stop();
});

const config = { Labels: { [runsLabel]: "sh" }, Entrypoint: ["sh"], Env: ["MOTD=of the pack", "HOME=/evil"] };

function podOn(name: string, image: string, script: string) {
  const volumeMounts = [{ name: "world", mountPath: "/data" }];
  const container: Partial<Container> = { image, args: [script], volumeMounts };
  const pod = podObject(name, container, { restartPolicy: "OnFailure" });
  pod.spec.volumes = [{ name: "world", emptyDir: {} }];
  return pod;
}

describe("a pod with an image of the registry", () => {
  it("gets the files of the image in its volume, at its first start only", async () => {
    const layers = [[file("data/world/level", "from the image"), file("data/world/extra", "")]];
    const digest = await pushImage(registry.host, "packs/one", { layers, config });
    const script = [
      'cat "$SVC_MOUNT_WORLD/world/level"; echo " $MOTD $FROM_IMAGE"',
      'if [ -e "$SVC_MOUNT_WORLD/world/extra" ]; then rm "$SVC_MOUNT_WORLD/world/extra"',
      'echo played >"$SVC_MOUNT_WORLD/world/level"; exit 1; fi',
    ].join("\n");
    const pod = podOn("one", `${registry.host}/packs/one:1@${digest}`, script);
    cluster.api.create(PODS, pod);
    const { status } = await awaitPod(cluster.api, pod.metadata.name, isOver);
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 1);
    assert.equal(status?.containerStatuses?.[0]?.imageID, `${registry.host}/packs/one@${digest}`);
    assert.equal(await readLog(cluster, pod.metadata.name), "played\n of the pack yes\n");
    const previous = await readLog(cluster, pod.metadata.name, "?previous=true");
    assert.equal(previous, "from the image of the pack yes\n");
  });

  it("waits with the same reason as on a real node, and starts once the image can run", async () => {
    const pod = podOn("late", `${registry.host}/packs/late:1`, "echo started");
    cluster.api.create(PODS, pod);
    const waiting = async (reason: RegExp, message: RegExp) =>
      awaitPod(cluster.api, pod.metadata.name, ({ status }) => {
        const state = status?.containerStatuses?.[0]?.state.waiting;
        return reason.test(state?.reason ?? "") && message.test(state?.message ?? "");
      });
    await waiting(/^(ErrImagePull|ImagePullBackOff)$/, /the registry has no image/);
    await pushImage(registry.host, "packs/late", { config: { ...config, Cmd: ["own"] } });
    await waiting(/^ImagePullBackOff$/, /has an ENTRYPOINT or CMD of its own/);
    await pushImage(registry.host, "packs/late", { config });
    await awaitPod(cluster.api, pod.metadata.name, isOver);
    assert.equal(await readLog(cluster, pod.metadata.name), "started\n");
  });

  it("gets InvalidImageName for an invalid name", async () => {
    const pod = podOn("misnamed", `${registry.host}/Packs/one:1`, "echo never");
    cluster.api.create(PODS, pod);
    await awaitPod(
      cluster.api,
      pod.metadata.name,
      ({ status }) => status?.containerStatuses?.[0]?.state.waiting?.reason === "InvalidImageName",
    );
  });
});
