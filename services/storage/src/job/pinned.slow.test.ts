// A node that was taken over gives itself every label that a kubelet may change, and is the only one that takes pods: what
// mounts a world or the archive folder stays where these are.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KubeObject, type Pod, resources, startInformer } from "@svc/kube";
import { account, staff, until } from "@svc/mesh/testing";
import { backups, drills, exports, files } from "@svc/proto";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { lockedServers } from "@svc/world-lock";
import { demoImage } from "../testing/fixture.ts";
import { type MoveFixture, openMoveFixture } from "../testing/move/fixture.ts";
import { addSet } from "../testing/stateful-set.ts";
import { addServerObject, namespace, volumes } from "../testing/worlds.ts";

const [home, taken] = ["local-1", "local-2"];
const hostname = "kubernetes.io/hostname";

describe("with a node that was taken over", () => {
  let fixture: MoveFixture;
  /** The nodes of all pods, by their names. */
  const nodes = new Map<string, string>();
  let watching: { stop: () => Promise<void> };
  before(async () => {
    fixture = await openMoveFixture("shipped");
    const { kube, archiveDir } = fixture.base;
    await addLocalVolume(fixture, "old-archive", {
      ...{ path: archiveDir, key: oldNodeLabels.role, value: "controller" },
    });
    await fixture.start(["storage.archive_claim=old-archive", "storage.backup_deadline=12s"]);
    await fixture.addWorld("survival");
    await label(home, { [nodeLabels.role]: "controller", [oldNodeLabels.role]: "controller" });
    await label(taken, {
      ...{ [hostname]: home, [oldNodeLabels.identity]: home, [oldNodeLabels.role]: "controller" },
    });
    await kube.patch(resources.nodes, { name: home }, { merge: { spec: { unschedulable: true } } });
    const onChange = (_key: string, pod: Pod | undefined) => {
      if (pod?.spec?.nodeName !== undefined) nodes.set(pod.metadata.name, pod.spec.nodeName);
    };
    watching = startInformer({
      ...{ kube, resource: resources.pods, namespace, onChange, log: { warn: () => {} } },
    });
  });
  after(async () => {
    await watching?.stop();
    await fixture?.close();
  });

  const label = (name: string, labels: Record<string, string>) =>
    fixture.base.kube.patch(resources.nodes, { name }, { merge: { metadata: { labels } } });
  const nodesOf = (prefix: string) => {
    const found = [...nodes].filter(([name]) => name.startsWith(prefix));
    return [...new Set(found.map(([, node]) => node))];
  };
  const stayedHome = async (...prefixes: string[]) => {
    for (const prefix of prefixes) {
      await until(() => nodesOf(prefix).length > 0, 30_000);
      assert.deepEqual(nodesOf(prefix), [home], prefix);
    }
  };
  const jobsOf = async (name: string) =>
    (await fixture.base.external.call(backups.listJobs, { name }, staff)).jobs;
  const settled = (name: string) =>
    until(async () => {
      const jobs = await jobsOf(name);
      return !jobs.some((job) => job.state === "running" || job.then_restore === "pending");
    }, 40_000);
  const create = (name: string) => fixture.base.external.call(backups.create, { name }, staff);

  test("a pod that goes by its volume alone is lured there", async () => {
    const claim = { name: "world", persistentVolumeClaim: { claimName: "world-survival-0" } };
    const containers = [{ name: "one", image: "svc.local/exits" }];
    await fixture.base.kube.create(resources.pods, {
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "lured", namespace } },
      spec: { restartPolicy: "Never", containers, volumes: [claim] },
    });
    await until(() => nodesOf("lured").length > 0, 20_000);
    assert.deepEqual(nodesOf("lured"), [taken]);
    await fixture.base.kube.remove(resources.pods, { name: "lured", namespace });
  });

  test("backups, snapshots and restores run where the world is", async () => {
    await create("survival");
    await settled("survival");
    await fixture.writeTo("world-survival-0", { "level.dat": "changed" });
    const about = { name: "survival", safety_snapshot: true };
    await fixture.base.external.call(backups.restore, about, staff);
    await settled("survival");
    assert.equal((await fixture.filesOf("world-survival-0"))["level.dat"], "survival");
    await stayedHome("backup-survival", "restore-survival");
  });

  test("files are read and exports are made there", async () => {
    const { entries } = await fixture.base.external.call(files.list, { name: "survival", path: "" }, staff);
    assert.ok(entries.some(({ name }) => name === "level.dat"));
    await fixture.base.external.call(exports.startWorld, { name: "survival" }, staff);
    await stayedHome("files-survival", "export-survival");
  });

  test("what mounts the archive folder alone runs where that is, though its volume has a label of an earlier release", async () => {
    const page = { server: "survival", limit: 1, offset: 0 };
    const [backup] = (await fixture.base.external.call(backups.list, page, staff)).backups;
    const about = { name: "survival", id: backup?.id ?? "" };
    const before = nodes.size;
    await fixture.base.external.call(exports.startBackup, about, account("usr-1"));
    await until(() => nodes.size > before, 30_000);
    await stayedHome("export-survival");
  });

  test("a drill restores beside the archives and boots the server there", async () => {
    await addSet(fixture.base, "survival", demoImage);
    const { id } = await fixture.base.external.call(drills.begin, { name: "survival" }, staff);
    const find = async () =>
      (await fixture.base.external.call(drills.list, { name: "survival" }, staff)).drills.find(
        (one) => one.id === id,
      );
    await until(async () => (await find())?.finished_at !== undefined, 60_000);
    const { state, message } = (await find()) ?? {};
    assert.equal(state, "passed", message);
    assert.equal(nodes.get(`drill-${id}`), home);
    await stayedHome(`drill-${id}-`);
  });

  test("a world of which nothing says where it is has no Job until its server is bound, and then none elsewhere", async () => {
    const path = join(fixture.base.dataDir, "worlds", "adrift");
    mkdirSync(path, { recursive: true });
    await addLocalVolume(fixture, "world-adrift-0", { path, key: hostname, value: "nowhere" });
    await addServerObject(fixture.base.kube, "adrift");
    await label(taken, { [hostname]: "nowhere" });
    const why = /selects its node by kubernetes.io\/hostname In nowhere.*set spec.nodeName/;
    await assert.rejects(create("adrift"), why);
    const [refused] = await jobsOf("adrift");
    assert.equal(refused?.state, "failed");
    assert.match(refused.message ?? "", why);
    const merge = { spec: { nodeName: home } };
    await fixture.base.kube.patch(lockedServers, { name: "adrift", namespace }, { merge });
    await create("adrift");
    const podOf = async () => {
      const { items } = await fixture.base.kube.list(resources.pods, { namespace });
      return items.find(({ metadata }) => metadata.name.startsWith("backup-adrift"));
    };
    await until(async () => (await podOf())?.status?.conditions?.[0]?.reason === "Unschedulable", 20_000);
    await settled("adrift");
    assert.deepEqual(nodesOf("backup-adrift"), []);
    const [late] = await jobsOf("adrift");
    assert.equal(late?.state, "failed");
    assert.match(late.message ?? "", /^the job exceeded its deadline; its pod had no node: 0\/2 nodes are/);
  });
});

type Local = { path: string; key: string; value: string };

/** A claim of a folder of the node that has a label. */
async function addLocalVolume({ base }: MoveFixture, name: string, { path, key, value }: Local) {
  const spec = { accessModes: ["ReadWriteMany"], storageClassName: "" };
  const about = { name, namespace };
  const terms = [{ matchExpressions: [{ key, operator: "In", values: [value] }] }];
  await base.kube.create(volumes, {
    ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name } },
    spec: {
      ...{ ...spec, capacity: { storage: "1Gi" }, persistentVolumeReclaimPolicy: "Retain" },
      ...{ local: { path }, claimRef: about, nodeAffinity: { required: { nodeSelectorTerms: terms } } },
    },
  } as KubeObject);
  await base.kube.create(resources.claims, {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: about },
    spec: { ...spec, volumeName: name, resources: { requests: { storage: "1Gi" } } },
  });
  const isBound = async () => (await base.kube.get(resources.claims, about)).status?.phase === "Bound";
  await until(isBound, 20_000);
}
