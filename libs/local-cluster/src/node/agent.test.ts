import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@svc/local-stack/testing";
import type { Container } from "../controllers/objects.ts";
import { CONFIG_MAPS, NODES, PODS, SECRETS } from "../controllers/refs.ts";
import type { TestCluster } from "../testing/cluster.ts";
import {
  awaitPod,
  findPod,
  IMAGES,
  isOver,
  isUp,
  NAMESPACE,
  podObject,
  readLog,
  startTestCluster,
} from "../testing/cluster.ts";
import { isAlive } from "./processes.ts";

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster();
});
after(async () => {
  await cluster.close();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of an API are read as they come
type Json = any;

const sh = (script: string, more: Partial<Container> = {}) => ({ image: "sh", args: [script], ...more });
const remove = (name: string, gracePeriodSeconds?: number) =>
  cluster.api.delete(
    PODS,
    { name, namespace: NAMESPACE },
    gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds },
  );
const gone = (name: string) =>
  until(() => findPod(cluster.api, name) === undefined, 20_000, `${name} is gone`);

describe("a node", () => {
  it("is registered as ready with its address and labels", () => {
    const node = cluster.api.get(NODES, "local-2");
    assert.equal(node.metadata.labels?.["kubernetes.io/hostname"], "local-2");
    assert.deepEqual(node.status?.["addresses"], [
      { type: "InternalIP", address: "127.2.0.1" },
      { type: "Hostname", address: "local-2" },
    ]);
  });
});

describe("the metrics API", () => {
  const root = "/apis/metrics.k8s.io/v1beta1";
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${cluster.adminToken}` };
    const response = await fetch(`${cluster.url}${path}`, { headers });
    return { status: response.status, body: (await response.json()) as Json };
  };

  it("measures the processes of running pods, and has no ended ones", async () => {
    cluster.api.create(PODS, podObject("busy", sh("while :; do :; done")));
    cluster.api.create(PODS, podObject("done", sh("exit 0")));
    await awaitPod(cluster.api, "busy", isUp);
    await awaitPod(cluster.api, "done", isOver);
    const path = `${root}/namespaces/${NAMESPACE}/pods`;
    const usageOf = ({ body }: { body: Json }) => body.containers?.[0]?.usage;
    await until(
      async () => Number.parseInt(usageOf(await get(`${path}/busy`))?.cpu ?? "0", 10) > 0,
      30_000,
      "usage",
    );
    const { cpu, memory } = usageOf(await get(`${path}/busy`));
    assert.match(cpu, /^\d{7,10}n$/);
    assert.match(memory, /^\d{3,7}Ki$/);
    const { body } = await get(path);
    assert.equal(body.kind, "PodMetricsList");
    const names = body.items.map((item: Json) => item.metadata.name);
    assert.ok(names.includes("busy") && !names.includes("done"), names.join());
    const none = await get(`${path}?labelSelector=nobody%3Dhas`);
    assert.deepEqual(none.body.items, []);
    remove("busy", 0);
    await gone("busy");
  });

  it("is listed by discovery and rejects unsupported requests", async () => {
    const groups = (await get("/apis")).body.groups.map(({ name }: Json) => name);
    assert.ok(groups.includes("metrics.k8s.io"));
    assert.equal((await get(root)).body.resources[0].kind, "PodMetrics");
    const path = `${root}/namespaces/${NAMESPACE}/pods`;
    const refused = await Promise.all([`${path}/nobody`, `${root}/nodes`, `${path}?watch=1`].map(get));
    assert.deepEqual(
      refused.map(({ status }) => status),
      [404, 404, 405],
    );
  });
});

describe("a pod", () => {
  it("runs to its end and reports exit code, reason and times", async () => {
    cluster.api.create(PODS, podObject("ends", sh("echo out; echo err >&2; exit 3")));
    const { status } = await awaitPod(cluster.api, "ends", isOver);
    const terminated = status?.containerStatuses?.[0]?.state.terminated;
    assert.deepEqual([status?.phase, terminated?.exitCode, terminated?.reason], ["Failed", 3, "Error"]);
    assert.equal(await readLog(cluster, "ends"), "out\nerr\n");
  });

  it("has its own address, and gets it and its names through the downward API", async () => {
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const env = [field("A", "status.podIP"), field("B", "metadata.name"), field("C", "spec.nodeName")];
    cluster.api.create(PODS, podObject("names", sh("echo $A $POD_IP $B $C $FROM_IMAGE", { env })));
    const { status, spec } = await awaitPod(cluster.api, "names", isOver);
    assert.match(status?.podIP ?? "", /^127\.(6[4-9]|7\d)\./);
    assert.equal(
      await readLog(cluster, "names"),
      `${status?.podIP} ${status?.podIP} names ${spec.nodeName} yes\n`,
    );
  });

  it("gets values of secrets and config maps, without missing optional ones, and with $(NAME) expanded", async () => {
    const metadata = { name: "settings", namespace: NAMESPACE };
    const data = { password: Buffer.from("s3cret").toString("base64") };
    cluster.api.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data });
    cluster.api.create(CONFIG_MAPS, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: { COLOUR: "blue" },
    });
    const container = sh('echo "$P/$Q/$COLOUR/$NONE."', {
      envFrom: [{ configMapRef: { name: "settings" } }],
      env: [
        { name: "P", valueFrom: { secretKeyRef: { name: "settings", key: "password" } } },
        { name: "Q", value: "<$(P)>" },
        { name: "NONE", valueFrom: { secretKeyRef: { name: "absent", key: "x", optional: true } } },
      ],
    });
    cluster.api.create(PODS, podObject("values", container));
    await awaitPod(cluster.api, "values", isOver);
    assert.equal(await readLog(cluster, "values"), "s3cret/<s3cret>/blue/.\n");
  });

  it("is removed at whatever moment of its start it is deleted", async () => {
    for (const round of [0, 1, 2, 3]) {
      const names = Array.from({ length: 12 }, (_, count) => `hasty-${round}-${count}`);
      await Promise.all(
        names.map(async (name, count) => {
          const spec = { nodeName: "local-1", terminationGracePeriodSeconds: 1 };
          cluster.api.create(PODS, podObject(name, sh("sleep 1000"), spec));
          await delay(count * 3);
          remove(name);
        }),
      );
      await Promise.all(names.map(gone));
    }
  });

  it("waits for a missing secret, reports it, and starts when the secret is created", async () => {
    const env = [{ name: "P", valueFrom: { secretKeyRef: { name: "later", key: "k" } } }];
    cluster.api.create(PODS, podObject("patient", sh("echo $P", { env })));
    const waiting = await awaitPod(cluster.api, "patient", (pod) => {
      return pod.status?.containerStatuses?.[0]?.state.waiting?.reason === "CreateContainerConfigError";
    });
    assert.equal(waiting.status?.containerStatuses?.[0]?.state.waiting?.message, 'secret "later" not found');
    const data = { k: Buffer.from("here").toString("base64") };
    cluster.api.create(SECRETS, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "later", namespace: NAMESPACE },
      data,
    });
    await awaitPod(cluster.api, "patient", isOver);
    assert.equal(await readLog(cluster, "patient"), "here\n");
  });

  it("can't pull an unknown image until the table has it", async () => {
    cluster.api.create(PODS, podObject("pulls", { image: "new:1", args: ["echo pulled"] }));
    const waiting = await awaitPod(cluster.api, "pulls", (pod) =>
      /^(ErrImagePull|ImagePullBackOff)$/.test(
        pod.status?.containerStatuses?.[0]?.state.waiting?.reason ?? "",
      ),
    );
    assert.match(
      waiting.status?.containerStatuses?.[0]?.state.waiting?.message ?? "",
      /"new:1" is not in the image table/,
    );
    await writeFile(join(cluster.dataDir, "images.json"), JSON.stringify({ ...IMAGES, "new:1": IMAGES.sh }));
    assert.equal((await awaitPod(cluster.api, "pulls", isOver)).status?.phase, "Succeeded");
  });

  it("runs init containers one after the other before its containers, all on one volume", async () => {
    const volumeMounts = [{ name: "shared", mountPath: "/shared" }];
    const step = (name: string) => ({
      name,
      image: "sh",
      args: [`echo ${name} >> "$SVC_MOUNT_SHARED/steps"`],
      volumeMounts,
    });
    const pod = podObject("inits", {
      image: "sh",
      command: ["/bin/cat"],
      args: ["/shared/steps"],
      volumeMounts,
    });
    pod.spec.initContainers = [step("first"), step("second")];
    pod.spec.volumes = [{ name: "shared", emptyDir: {} }];
    cluster.api.create(PODS, pod);
    await awaitPod(cluster.api, "inits", isOver);
    assert.equal(await readLog(cluster, "inits", "?container=main"), "first\nsecond\n");
  });

  it("fails without starting its containers when an init container fails", async () => {
    const pod = podObject("bad-init", sh("echo never"));
    pod.spec.initContainers = [{ name: "init", image: "sh", args: ["exit 1"] }];
    cluster.api.create(PODS, pod);
    const { status } = await awaitPod(cluster.api, "bad-init", isOver);
    assert.equal(status?.phase, "Failed");
    assert.equal(status?.containerStatuses?.[0]?.state.waiting?.reason, "PodInitializing");
  });

  it("has mounted secrets as files under its root and at the mount variable", async () => {
    const volumeMounts = [{ name: "keys", mountPath: "/etc/keys", readOnly: true }];
    const pod = podObject(
      "files",
      sh('cat "$SVC_ROOT/etc/keys/password" "$SVC_MOUNT_KEYS/password"', { volumeMounts }),
    );
    pod.spec.volumes = [{ name: "keys", secret: { secretName: "file-keys" } }];
    const data = { password: Buffer.from("pw\n").toString("base64") };
    const metadata = { name: "file-keys", namespace: NAMESPACE };
    cluster.api.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data });
    cluster.api.create(PODS, pod);
    await awaitPod(cluster.api, "files", isOver);
    assert.equal(await readLog(cluster, "files"), "pw\npw\n");
  });

  it("is restarted with back-off when it crashes and keeps the log of the previous run", async () => {
    cluster.api.create(PODS, podObject("crashes", sh("echo life; exit 7"), { restartPolicy: "Always" }));
    const { status } = await awaitPod(cluster.api, "crashes", (pod) => {
      const main = pod.status?.containerStatuses?.[0];
      return (main?.restartCount ?? 0) >= 2 && main?.state.waiting?.reason === "CrashLoopBackOff";
    });
    assert.equal(status?.phase, "Running");
    assert.equal(status?.containerStatuses?.[0]?.lastState.terminated?.exitCode, 7);
    assert.equal(await readLog(cluster, "crashes", "?previous=true"), "life\n");
    remove("crashes", 0);
    await gone("crashes");
  });

  it("has its termination message in its status", async () => {
    const container = sh('echo "disk is full" > "$SVC_TERMINATION_LOG"; exit 1');
    cluster.api.create(PODS, podObject("last-words", container));
    const { status } = await awaitPod(cluster.api, "last-words", isOver);
    assert.equal(status?.containerStatuses?.[0]?.state.terminated?.message, "disk is full\n");
  });

  it("is ended at its deadline", async () => {
    cluster.api.create(PODS, podObject("deadline", { image: "sleep" }, { activeDeadlineSeconds: 1 }));
    const { status } = await awaitPod(cluster.api, "deadline", isOver);
    assert.deepEqual([status?.phase, status?.reason], ["Failed", "DeadlineExceeded"]);
  });
});

describe("the end of a pod", () => {
  it("starts with the preStop command and SIGTERM to the program itself, whose exit code is recorded", async () => {
    const file = join(cluster.dataDir, "stopped");
    const script = `trap 'echo term >> ${file}; exit 0' TERM; echo up; while :; do sleep 0.02; done`;
    const lifecycle = { preStop: { exec: { command: ["/bin/sh", "-c", `echo hook >> ${file}`] } } };
    cluster.api.create(PODS, podObject("polite", sh(script, { lifecycle })));
    await awaitPod(cluster.api, "polite", isUp);
    assert.equal((await readUntil("polite", "up")).trim(), "up");
    remove("polite");
    await gone("polite");
    assert.equal(readFileSync(file, "utf8"), "hook\nterm\n");
  });

  it("is SIGKILL for the whole process group when the grace period is over", async () => {
    const script = "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 0.02; done";
    cluster.api.create(PODS, podObject("stubborn", sh(script)));
    const child = Number(await readUntil("stubborn", "\n"));
    assert.ok(isAlive(child));
    remove("stubborn", 1);
    await gone("stubborn");
    assert.ok(!isAlive(child), "the grandchild is dead");
  });

  it("removes the files of the pod", async () => {
    cluster.api.create(PODS, podObject("tidy", { image: "sleep" }));
    const pod = await awaitPod(cluster.api, "tidy", isUp);
    const dir = join(cluster.dataDir, "pods", pod.metadata.uid ?? "");
    assert.ok(existsSync(dir));
    remove("tidy", 0);
    await until(() => !existsSync(dir), 20_000, "the folder is gone");
  });
});

describe("a probe", () => {
  it("keeps a pod unready until it succeeds", async () => {
    const file = join(cluster.dataDir, "ready");
    const readinessProbe = { exec: { command: ["/usr/bin/test", "-e", file] }, periodSeconds: 1 };
    cluster.api.create(PODS, podObject("gated", { image: "sleep", readinessProbe }));
    const running = await awaitPod(cluster.api, "gated", (pod) => pod.status?.phase === "Running");
    assert.equal(isUp(running), false);
    await writeFile(file, "");
    await awaitPod(cluster.api, "gated", isUp);
    remove("gated", 0);
  });

  it("by TCP on a named port makes a server ready, after its startup probe has succeeded", async () => {
    const tcpSocket = { port: "game" };
    const container = {
      image: "server",
      ports: [{ name: "game", containerPort: 7000 }],
      startupProbe: { tcpSocket, periodSeconds: 1, failureThreshold: 20 },
      readinessProbe: { tcpSocket, periodSeconds: 1 },
    };
    cluster.api.create(PODS, podObject("served", container));
    const { status } = await awaitPod(cluster.api, "served", isUp);
    assert.equal(status?.containerStatuses?.[0]?.started, true);
    remove("served", 0);
  });

  it("for liveness that keeps failing restarts the container", async () => {
    const livenessProbe = { exec: { command: ["/bin/false"] }, periodSeconds: 1, failureThreshold: 1 };
    cluster.api.create(
      PODS,
      podObject("sick", { image: "sleep", livenessProbe }, { restartPolicy: "Always" }),
    );
    await awaitPod(cluster.api, "sick", (pod) => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
    remove("sick", 0);
  });
});

/** Follows the log of a pod until the text appears in it. */
async function readUntil(pod: string, text: string): Promise<string> {
  await awaitPod(cluster.api, pod, (one) => one.status?.containerStatuses?.[0]?.state.running !== undefined);
  const url = `${cluster.url}/api/v1/namespaces/${NAMESPACE}/pods/${pod}/log?follow=true`;
  const end = new AbortController();
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${cluster.adminToken}` },
    signal: AbortSignal.any([end.signal, AbortSignal.timeout(10_000)]),
  });
  let all = "";
  for await (const part of response.body ?? []) {
    all += Buffer.from(part).toString("utf8");
    if (all.includes(text)) break;
  }
  end.abort();
  return all;
}
