import { apiVersionOf, type ResourceType } from "./resource-type.ts";

const verbs = ["create", "delete", "get", "list", "patch", "update", "watch"];
const partial = ["get", "patch", "update"];

/** The kinds that accept only POST and are not stored. */
export const reviewGroups: Record<string, { kind: string; plural: string }[]> = {
  "authorization.k8s.io/v1": [{ kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews" }],
};

/** The group of the resource usage of pods, which is measured and not stored. */
export const metricsGroup = { group: "metrics.k8s.io", version: "v1beta1" };
const metricsGroupVersion = `${metricsGroup.group}/${metricsGroup.version}`;
const podMetricsResource = {
  ...{ name: "pods", singularName: "", namespaced: true, kind: "PodMetrics" },
  verbs: ["get", "list"],
};

/** The response to `GET /api`. */
export function apiVersions(address: string): unknown {
  const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: address }];
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs };
}

function groupVersions(types: ResourceType[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  const add = (group: string, version: string) => {
    const known = groups.get(group) ?? [];
    if (!known.includes(version)) groups.set(group, [...known, version]);
  };
  for (const { group, version } of types) if (group) add(group, version);
  for (const text of Object.keys(reviewGroups)) add(text.split("/")[0] ?? "", "v1");
  add(metricsGroup.group, metricsGroup.version);
  return groups;
}

function groupOf(name: string, versions: string[]): Record<string, unknown> {
  const listed = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

/** `GET /apis`. */
export function apiGroups(types: ResourceType[]): unknown {
  const groups = [...groupVersions(types)].map(([name, versions]) => groupOf(name, versions));
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

/** `GET /apis/GROUP`, undefined for a group that is not served. */
export function apiGroup(types: ResourceType[], name: string): unknown {
  const versions = groupVersions(types).get(name);
  return versions && { kind: "APIGroup", apiVersion: "v1", ...groupOf(name, versions) };
}

/** `GET /apis/GROUP/VERSION` and `GET /api/v1`, undefined when nothing is served there. */
export function apiResources(types: ResourceType[], groupVersion: string): unknown {
  const served = types.filter((type) => apiVersionOf(type) === groupVersion);
  const reviews = reviewGroups[groupVersion] ?? [];
  const measured = groupVersion === metricsGroupVersion ? [podMetricsResource] : [];
  if (served.length + reviews.length + measured.length === 0) return undefined;
  const resources = [
    ...measured,
    ...served.flatMap(resourcesOf),
    ...reviews.map(({ kind, plural }) => ({
      name: plural,
      singularName: "",
      namespaced: false,
      kind,
      verbs: ["create"],
    })),
  ];
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
}

function resourcesOf(type: ResourceType): unknown[] {
  const { plural: name, singular: singularName, namespaced, kind, shortNames, categories } = type;
  const sub = (subresource: string, extra: Record<string, unknown>) => ({
    name: `${name}/${subresource}`,
    singularName: "",
    namespaced,
    kind,
    ...extra,
  });
  const main = {
    ...{ name, singularName: type.custom ? singularName : "", namespaced, kind, verbs },
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
  const scale = { group: "autoscaling", version: "v1", kind: "Scale", verbs: partial };
  return [
    main,
    ...(type.status ? [sub("status", { verbs: partial })] : []),
    ...(type.scale ? [sub("scale", scale)] : []),
    ...(type.storageKey === "/pods"
      ? [sub("log", { verbs: ["get"] }), sub("binding", { kind: "Binding", verbs: ["create"] })]
      : []),
    ...(type.storageKey === "/namespaces" ? [sub("finalize", { verbs: ["update"] })] : []),
  ];
}

/** `GET /version`: identifies the embedded server. */
export const versionDocument = {
  major: "1",
  minor: "28",
  gitVersion: "v1.28.0+svc-local",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "node",
  platform: "linux/amd64",
};
