// The client of the services against the embedded API server.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  connectKube,
  createEventRecorder,
  isKubeError,
  type Kube,
  resources,
  type Secret,
  startInformer,
  startLease,
} from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { isFault } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { type LocalCluster, startLocalCluster } from "./start.ts";

const log = createLogger("kube", "silent");
const namespace = "kube-test";
let dir: string;
let cluster: LocalCluster;
let kube: Kube;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), "svc-kube-"));
  writeFileSync(join(dir, "images.json"), "{}");
  cluster = await startLocalCluster({ dataDir: dir, port: 0, images: join(dir, "images.json") });
  kube = connectKube({ kubeconfigFile: join(dir, "kubeconfig") });
  await kube.create(resources.namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
});
after(async () => {
  kube.close();
  await cluster.close();
  rmSync(dir, { recursive: true, force: true });
});

const secret = (name: string, labels: Record<string, string> = {}): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace, labels },
  data: { a: "YQ==" },
});
const remove = (name: string) => kube.remove(resources.secrets, { name, namespace });

function serverOf(kubeconfig: string): URL {
  return new URL(/"server": "([^"]+)"/.exec(kubeconfig)?.[1] ?? "");
}

/** The API server behind a connection that can be cut. */
async function throughWire(): Promise<{
  kube: Kube;
  cut: () => void;
  recover: () => void;
  close: () => Promise<void>;
}> {
  const kubeconfig = cluster.kubeconfig("admin");
  const target = serverOf(kubeconfig);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server: Server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const file = join(dir, `kubeconfig.${port}`);
  writeFileSync(file, kubeconfig.replace(target.host, `127.0.0.1:${port}`));
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  const own = connectKube({ kubeconfigFile: file });
  return {
    kube: own,
    cut: () => {
      isCut = true;
      end();
    },
    recover: () => {
      isCut = false;
    },
    close: async () => {
      own.close();
      end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

test("rejections have code and reason, and find returns undefined for a missing object", async () => {
  await assert.rejects(kube.get(resources.secrets, { name: "none", namespace }), (error: unknown) => {
    return isKubeError(error, 404) && error.reason === "NotFound";
  });
  assert.equal(await kube.find(resources.secrets, { name: "none", namespace }), undefined);
  await kube.create(resources.secrets, secret("once"));
  await assert.rejects(kube.create(resources.secrets, secret("once")), (error: unknown) => {
    return isKubeError(error, 409) && error.reason === "AlreadyExists";
  });
  await remove("once");
});

test("an update with a stale version is rejected, and a precondition protects an object that was created again", async () => {
  const made = await kube.create(resources.secrets, secret("version"));
  const target = { name: "version", namespace };
  const patched = await kube.patch(resources.secrets, target, {
    merge: { metadata: { labels: { a: "b" } } },
  });
  await assert.rejects(kube.replace(resources.secrets, made), (error: unknown) => isKubeError(error, 409));
  await assert.rejects(kube.remove(resources.secrets, target, { uid: "another" }), (error: unknown) =>
    isKubeError(error, 409),
  );
  const jsoned = await kube.patch(resources.secrets, target, {
    json: [{ op: "replace", path: "/metadata/labels/a", value: "c" }],
  });
  assert.deepEqual([patched.metadata.labels, jsoned.metadata.labels], [{ a: "b" }, { a: "c" }]);
  await remove("version");
});

test("a long list is read in pages", async () => {
  for (let count = 0; count < 7; count++)
    await kube.create(resources.secrets, secret(`page-${count}`, { page: "yes" }));
  const { items } = await kube.list(resources.secrets, { namespace, labelSelector: "page=yes", pageSize: 3 });
  assert.equal(items.length, 7);
  assert.equal(items[0]?.kind, "Secret");
  for (let count = 0; count < 7; count++) await remove(`page-${count}`);
});

test("a cluster that is down is the fault unavailable", async () => {
  const wire = await throughWire();
  wire.cut();
  await assert.rejects(
    wire.kube.version(),
    (error: unknown) => isFault(error) && error.fault === "unavailable",
  );
  await wire.close();
});

test("a kubeconfig with a remote plain HTTP server is rejected", () => {
  const kubeconfig = cluster.kubeconfig("admin");
  const file = join(dir, "elsewhere");
  writeFileSync(file, kubeconfig.replace(serverOf(kubeconfig).origin, "http://10.0.0.1:6443"));
  assert.throws(() => connectKube({ kubeconfigFile: file }), /use HTTPS/);
  assert.throws(() => connectKube({ kubeconfigFile: join(dir, "nowhere") }), /cannot be used/);
});

test("a cached view follows creates, changes and deletes, and keeps no managedFields", async () => {
  const changes: string[] = [];
  const copy = startInformer({
    kube,
    log,
    namespace,
    resource: resources.secrets,
    labelSelector: "copied=yes",
    onChange: (key, now, before) => changes.push(`${key} ${before ? 1 : 0}${now ? 1 : 0}`),
  });
  await copy.ready;
  await kube.create(resources.secrets, secret("copied", { copied: "yes" }));
  await until(() => copy.get("copied") !== undefined);
  assert.equal("managedFields" in (copy.get("copied")?.metadata ?? {}), false);
  await kube.patch(resources.secrets, { name: "copied", namespace }, { merge: { data: { a: "Yg==" } } });
  await until(() => copy.get("copied")?.data?.["a"] === "Yg==");
  await remove("copied");
  await until(() => copy.size === 0);
  assert.deepEqual(changes, ["copied 01", "copied 11", "copied 10"]);
  await copy.stop();
});

test("a cached view catches up with changes made while the connection was lost", async () => {
  const wire = await throughWire();
  await kube.create(resources.secrets, secret("gone", { cut: "yes" }));
  const copy = startInformer({
    kube: wire.kube,
    log,
    namespace,
    resource: resources.secrets,
    labelSelector: "cut=yes",
  });
  await copy.ready;
  wire.cut();
  await remove("gone");
  await kube.create(resources.secrets, secret("new", { cut: "yes" }));
  wire.recover();
  await until(() => copy.get("new") !== undefined && copy.get("gone") === undefined);
  await remove("new");
  await copy.stop();
  await wire.close();
});

test("the result of an own write is not overwritten by an older event", async () => {
  const made = await kube.create(resources.secrets, secret("mine", { mine: "yes" }));
  const copy = startInformer({
    kube,
    log,
    namespace,
    resource: resources.secrets,
    labelSelector: "mine=yes",
  });
  await copy.ready;
  const version = String(Number(made.metadata.resourceVersion) + 1_000_000);
  copy.remember({ ...made, metadata: { ...made.metadata, resourceVersion: version }, data: { a: "Yw==" } });
  copy.remember(made);
  assert.equal(copy.get("mine")?.data?.["a"], "Yw==");
  await copy.stop();
  await remove("mine");
});

const leadUntilTold = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("of two candidates one leads, and the other takes over at once when the lease is released", async () => {
  const times = { durationMs: 60_000, renewMs: 30 };
  const about = { kube, namespace, name: "given-back", lead: leadUntilTold, log, ...times };
  const first = startLease({ ...about, identity: "first" });
  await until(() => first.isHeld());
  let looks = 0;
  const find: Kube["find"] = (...wanted) => {
    looks += 1;
    return kube.find(...wanted);
  };
  const second = startLease({ ...about, kube: { ...kube, find }, identity: "second" });
  await until(() => looks > 2);
  assert.equal(second.isHeld(), false);
  await first.release();
  await until(() => second.isHeld());
  await second.release();
});

test("a leader that loses its connection to the cluster stops leading before another may start", async () => {
  const wire = await throughWire();
  const times = { durationMs: 600, renewMs: 50 };
  const about = { namespace, name: "lost", lead: leadUntilTold, log, ...times };
  const first = startLease({ ...about, kube: wire.kube, identity: "first" });
  await until(() => first.isHeld());
  const second = startLease({ ...about, kube, identity: "second" });
  wire.cut();
  await until(() => second.isHeld());
  assert.equal(first.isHeld(), false);
  await second.release();
  await first.release();
  await wire.close();
});

test("a leader whose renewal hangs stops leading before another may start", async () => {
  const events: string[] = [];
  const leadAs = (who: string) => async (signal: AbortSignal) => {
    events.push(`${who} begins`);
    await leadUntilTold(signal);
    events.push(`${who} ends`);
  };
  const hanging = Promise.withResolvers<never>();
  let isHanging = false;
  const replace = ((...wanted: Parameters<Kube["replace"]>) =>
    isHanging ? hanging.promise : kube.replace(...wanted)) as Kube["replace"];
  const about = { namespace, name: "hangs", log, durationMs: 900, renewMs: 300 };
  const first = startLease({ ...about, kube: { ...kube, replace }, identity: "1", lead: leadAs("first") });
  await until(() => first.isHeld());
  const second = startLease({ ...about, kube, identity: "2", lead: leadAs("second") });
  isHanging = true;
  await until(() => second.isHeld());
  assert.deepEqual(events, ["first begins", "first ends", "second begins"]);
  hanging.reject(new Error("hung up"));
  await second.release();
  await first.release();
});

test("an event reported twice is one event with a count", async () => {
  const recorder = createEventRecorder({ kube, component: "test", log });
  const about = await kube.create(resources.secrets, secret("eventful"));
  for (let count = 0; count < 2; count++) {
    recorder.record({ about, type: "Normal", reason: "Said", message: "The same words." });
    await recorder.idle();
  }
  const { items } = await kube.list(resources.events, { namespace });
  assert.deepEqual(
    items.map(({ reason, count, involvedObject }) => [reason, count, involvedObject["name"]]),
    [["Said", 2, "eventful"]],
  );
});
