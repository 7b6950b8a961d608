import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "../../cluster-api.ts";
import { objectAt } from "../json.ts";
import { podStrategy, validatePodSpec } from "./pod.ts";

type Spec = Record<string, unknown>;

const container = { name: "main", image: "demo:1" };
const podOf = (spec: Spec): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p" } },
  spec: { containers: [container], ...spec },
});
const defaulted = (spec: Spec) => {
  const { defaults } = podStrategy;
  assert.ok(defaults);
  return objectAt(defaults(podOf(spec)), "spec");
};
const created = (spec: Spec) => {
  const { onCreate } = podStrategy;
  assert.ok(onCreate);
  return onCreate(podOf(spec), {} as never);
};
const policy = { restartPolicy: "Never" };

describe("the defaults of a pod", () => {
  const pulls: [image: string, policy: string][] = [
    ["demo", "Always"],
    ["demo:latest", "Always"],
    ["registry:5000/demo", "Always"],
    ["demo:1", "IfNotPresent"],
    [`demo@sha256:${"0".repeat(64)}`, "IfNotPresent"],
  ];
  for (const [image, pulled] of pulls)
    test(`${image.slice(0, 20)} is pulled ${pulled}`, () => {
      const [first] = defaulted({ containers: [{ name: "a", image }] })["containers"] as Spec[];
      assert.equal(first?.["imagePullPolicy"], pulled);
    });

  test("a container without requests requests its limits", () => {
    const resources = { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m" } };
    const [first] = defaulted({ containers: [{ ...container, resources }] })["containers"] as Spec[];
    assert.deepEqual(objectAt(first, "resources")["requests"], { cpu: "500m", memory: "1Gi" });
  });

  test("a probe checks every ten seconds, and a volume without a source is an empty folder", () => {
    const probed = { ...container, readinessProbe: { httpGet: { port: 80 } } };
    const { containers, volumes } = defaulted({ containers: [probed], volumes: [{ name: "tmp" }] });
    assert.deepEqual((containers as Spec[])[0]?.["readinessProbe"], {
      ...{ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
      httpGet: { path: "/", scheme: "HTTP", port: 80 },
    });
    assert.deepEqual(volumes, [{ name: "tmp", emptyDir: {} }]);
  });

  test("what is given stays", () => {
    const { restartPolicy, dnsPolicy } = defaulted({ restartPolicy: "Never" });
    assert.deepEqual([restartPolicy, dnsPolicy], ["Never", "ClusterFirst"]);
  });
});

describe("the quality of service of a new pod", () => {
  const amounts = { cpu: "1", memory: "1Gi" };
  const table: [quality: string, resources: Spec][] = [
    ["BestEffort", {}],
    ["Burstable", { requests: { cpu: "1" } }],
    ["Burstable", { requests: { ...amounts, cpu: "500m" }, limits: amounts }],
    ["Guaranteed", { requests: amounts, limits: amounts }],
  ];
  for (const [quality, resources] of table)
    test(`is ${quality} with ${JSON.stringify(resources)}`, () => {
      const { status } = created({ containers: [{ ...container, resources }] });
      assert.deepEqual(status, { phase: "Pending", qosClass: quality });
    });

  test("its tolerations get those of nodes that are away, unless it has its own", () => {
    const own = { key: "node.kubernetes.io/not-ready", operator: "Exists" };
    const tolerations = created({ tolerations: [own] }).spec?.["tolerations"] as Spec[];
    assert.deepEqual(tolerations[0], own);
    assert.deepEqual(
      tolerations.map(({ key }) => key),
      ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"],
    );
  });
});

describe("a pod spec is refused", () => {
  const fields = (spec: Spec) =>
    validatePodSpec({ ...policy, containers: [container], ...spec }, "spec").map(
      ({ field, reason }) => `${field} ${reason}`,
    );
  const table: [fact: string, spec: Spec, causes: string[]][] = [
    ["when nothing is wrong, not at all", {}, []],
    ["without containers", { containers: [] }, ["spec.containers FieldValueRequired"]],
    [
      "without a name or an image",
      { containers: [{}] },
      ["spec.containers[0].name FieldValueRequired", "spec.containers[0].image FieldValueRequired"],
    ],
    [
      "with one name for an init container and a container",
      { initContainers: [container] },
      ["spec.containers[0].name FieldValueDuplicate"],
    ],
    [
      "with a port beyond 65535",
      { containers: [{ ...container, ports: [{ containerPort: 65_536 }] }] },
      ["spec.containers[0].ports[0].containerPort FieldValueInvalid"],
    ],
    [
      "with a mount of no volume",
      { containers: [{ ...container, volumeMounts: [{ name: "world", mountPath: "/data" }] }] },
      ["spec.containers[0].volumeMounts[0].name FieldValueNotFound"],
    ],
    [
      "with a mount at no path",
      { volumes: [{ name: "world" }], containers: [{ ...container, volumeMounts: [{ name: "world" }] }] },
      ["spec.containers[0].volumeMounts[0].mountPath FieldValueRequired"],
    ],
    [
      "with a variable without a name",
      { containers: [{ ...container, env: [{ value: "1" }] }] },
      ["spec.containers[0].env[0].name FieldValueRequired"],
    ],
    [
      "with an unknown restart policy",
      { restartPolicy: "Sometimes" },
      ["spec.restartPolicy FieldValueNotSupported"],
    ],
  ];
  for (const [fact, spec, causes] of table) test(fact, () => assert.deepEqual(fields(spec), causes));

  test("a mount of a claim template is one of a volume", () => {
    const mounted = { ...container, volumeMounts: [{ name: "world", mountPath: "/data" }] };
    const spec = { ...policy, containers: [mounted] };
    assert.deepEqual(validatePodSpec(spec, "spec", { claims: ["world"] }), []);
  });
});

describe("an update of a pod", () => {
  const update = (before: Spec, after: Spec) =>
    podStrategy.validateUpdate?.(podOf(after), podOf(before)).map(({ field }) => field);

  test("may change its image and its deadline", () => {
    assert.deepEqual(update({}, { containers: [{ ...container, image: "demo:2" }] }), []);
    assert.deepEqual(update({}, { activeDeadlineSeconds: 5 }), []);
  });

  test("may not change its command, add a container or move to another node", () => {
    assert.deepEqual(update({}, { containers: [{ ...container, command: ["sh"] }] }), ["spec"]);
    assert.deepEqual(update({}, { containers: [container, { ...container, name: "b" }] }), ["spec"]);
    assert.deepEqual(update({ nodeName: "a" }, { nodeName: "b" }), ["spec"]);
  });
});
