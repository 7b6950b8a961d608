// Plays the kubelet: reports pods as a node would, and removes deleted ones. Real pods with real processes are in
// run.slow.test.ts; here hundreds of pods come and go, also on an API server that has no nodes at all.

import { isKubeError, type Kube, type Pod, resources, startInformer } from "@svc/kube";
import { createLogger } from "@svc/telemetry";

export type FakeNode = {
  /** Pods that exist now, by name. */
  pods: () => Pod[];
  stop: () => Promise<void>;
};

type FakeNodeOptions = {
  kube: Kube;
  namespace: string;
  /** Whether a pod gets ready; called once, when it appears. */
  getsReady: (pod: Pod) => boolean;
  /** Called for every pod that appears. */
  onPod?: (pod: Pod) => void;
  /** Called when a pod was reported ready. */
  onReady?: (pod: Pod) => void;
};

export async function startFakeNode(options: FakeNodeOptions): Promise<FakeNode> {
  const { kube, namespace, getsReady, onPod, onReady } = options;
  const seen = new Set<string>();
  const working = new Set<Promise<void>>();
  const work = (job: Promise<unknown>) => {
    const done = job.then(
      () => undefined,
      (error: unknown) => {
        // Somebody else was faster: the pod is gone or has changed.
        if (!isKubeError(error, 404) && !isKubeError(error, 409)) throw error;
      },
    );
    working.add(done);
    void done.finally(() => working.delete(done));
  };
  const onChange = (_name: string, pod: Pod | undefined) => {
    if (!pod) return;
    const { name, uid = "" } = pod.metadata;
    const target = { name, namespace };
    if (pod.metadata.deletionTimestamp !== undefined) {
      return work(kube.remove(resources.pods, target, { uid, gracePeriodSeconds: 0 }));
    }
    if (seen.has(uid)) return;
    seen.add(uid);
    onPod?.(pod);
    if (!getsReady(pod)) return;
    const conditions = [{ type: "Ready", status: "True" }];
    const status = { phase: "Running", podIP: "127.0.0.1", conditions };
    const patched = kube.patch(resources.pods, target, { merge: { status }, subresource: "status" });
    work(patched.then(() => onReady?.(pod)));
  };
  const log = createLogger("lifecycle", "silent");
  const informer = startInformer({ kube, namespace, resource: resources.pods, log, onChange });
  await informer.ready;
  return {
    pods: () => informer.list(),
    stop: async () => {
      await informer.stop();
      await Promise.all(working);
    },
  };
}
