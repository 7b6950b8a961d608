import type { KubeObject } from "../../cluster-api.ts";
import { listAt, objectAt, stringAt } from "../json.ts";
import type { Store } from "../store/store.ts";
import type { User } from "./tokens.ts";

/** The attributes of a request. */
export type Attributes = {
  verb: string;
  group?: string;
  resource?: string;
  subresource?: string;
  name?: string;
  namespace?: string;
  /** A non-resource path. */
  path?: string;
};

/** One rule of a role. */
type Rule = {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  resourceNames: string[];
  nonResourceURLs: string[];
};

/** Rules that a user has in one namespace, or everywhere (`undefined`). */
type Grant = { namespace: string | undefined; rules: Rule[] };

/** Decides by the Role and Binding objects in the store. */
export type Authorizer = {
  allows(user: User, wanted: Attributes): boolean;
  grants(user: User): Grant[];
  close(): void;
};

const prefix = "rbac.authorization.k8s.io/";
const rootGroup = "system:masters";

/** An authorizer that caches the rules of each user until a role or binding changes. */
export function createAuthorizer(store: Store): Authorizer {
  let cache = new Map<string, Grant[]>();
  const unsubscribe = store.subscribe(undefined, (_change, resource) => {
    if (resource.startsWith(prefix)) cache = new Map();
  });
  const grants = (user: User): Grant[] => {
    const id = JSON.stringify([user.name, user.groups]);
    const known = cache.get(id);
    if (known) return known;
    const found = collectGrants(store, user);
    cache.set(id, found);
    return found;
  };
  return {
    grants,
    close: unsubscribe,
    allows: (user, wanted) => {
      if (user.groups.includes(rootGroup)) return true;
      return grants(user).some(
        ({ namespace, rules }) =>
          (namespace === undefined || namespace === wanted.namespace) &&
          rules.some((rule) => covers(rule, wanted)),
      );
    },
  };
}

function collectGrants(store: Store, user: User): Grant[] {
  const grants: Grant[] = [];
  for (const { object } of store.collection(`${prefix}clusterrolebindings`).range({})) {
    if (bindsUser(object, user)) grants.push({ namespace: undefined, rules: rulesOf(store, object) });
  }
  for (const { object } of store.collection(`${prefix}rolebindings`).range({})) {
    if (bindsUser(object, user))
      grants.push({ namespace: object.metadata.namespace ?? "", rules: rulesOf(store, object) });
  }
  return grants;
}

function bindsUser(binding: KubeObject, user: User): boolean {
  return listAt(binding, "subjects").some((subject) => {
    const kind = stringAt(subject, "kind");
    const name = stringAt(subject, "name");
    if (kind === "User") return name === user.name;
    if (kind === "Group") return user.groups.includes(name);
    const namespace = stringAt(subject, "namespace") || binding.metadata.namespace;
    return kind === "ServiceAccount" && user.name === `system:serviceaccount:${namespace}:${name}`;
  });
}

function rulesOf(store: Store, binding: KubeObject): Rule[] {
  const ref = objectAt(binding, "roleRef");
  const cluster = stringAt(ref, "kind") === "ClusterRole";
  const key = `${cluster ? "" : binding.metadata.namespace}/${stringAt(ref, "name")}`;
  const role = store.get(`${prefix}${cluster ? "clusterroles" : "roles"}`, key)?.object;
  return listAt(role, "rules").map(readRule);
}

function readRule(rule: unknown): Rule {
  const strings = (key: string) => listAt(rule, key).map(String);
  return {
    verbs: strings("verbs"),
    apiGroups: strings("apiGroups"),
    resources: strings("resources"),
    resourceNames: strings("resourceNames"),
    nonResourceURLs: strings("nonResourceURLs"),
  };
}

function has(list: string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

function covers(rule: Rule, wanted: Attributes): boolean {
  if (!has(rule.verbs, wanted.verb)) return false;
  if (wanted.path !== undefined)
    return rule.nonResourceURLs.some((pattern) => matchesPath(pattern, wanted.path ?? ""));
  if (!has(rule.apiGroups, wanted.group ?? "")) return false;
  const resource = wanted.subresource ? `${wanted.resource}/${wanted.subresource}` : (wanted.resource ?? "");
  const anySub = wanted.subresource ? `*/${wanted.subresource}` : resource;
  if (!has(rule.resources, resource) && !rule.resources.includes(anySub)) return false;
  return rule.resourceNames.length === 0 || rule.resourceNames.includes(wanted.name ?? "");
}

function matchesPath(pattern: string, path: string): boolean {
  return (
    pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)))
  );
}

/** The message of Kubernetes for a forbidden request. */
export function refusalText(user: User, wanted: Attributes): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${wanted.verb}`;
  if (wanted.path !== undefined) return `forbidden: ${who} path ${JSON.stringify(wanted.path)}`;
  const resource = wanted.subresource ? `${wanted.resource}/${wanted.subresource}` : wanted.resource;
  const group = wanted.group ? `.${wanted.group}` : "";
  const subject = `${wanted.resource}${group}${wanted.name ? ` ${JSON.stringify(wanted.name)}` : ""}`;
  const scope = wanted.namespace
    ? `in the namespace ${JSON.stringify(wanted.namespace)}`
    : "at the cluster scope";
  return `${subject} is forbidden: ${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(wanted.group ?? "")} ${scope}`;
}
