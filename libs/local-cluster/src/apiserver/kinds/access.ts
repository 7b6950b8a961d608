import { fieldError } from "../field-error.ts";
import { isObject, jsonEqual, listAt, objectAt, stringAt } from "../json.ts";
import type { Strategy } from "./strategy.ts";

const rbacGroup = "rbac.authorization.k8s.io";

/** Roles and cluster roles. */
export const roleStrategy: Strategy = {
  defaults: (role) => ({ ...role, rules: listAt(role, "rules").length > 0 ? role["rules"] : null }),
  validate: (role) =>
    listAt(role, "rules").flatMap((rule, index) => {
      const at = `rules[${index}]`;
      const causes = [];
      if (listAt(rule, "verbs").length === 0)
        causes.push(fieldError.required(`${at}.verbs`, "verbs must contain at least one value"));
      if (listAt(rule, "nonResourceURLs").length > 0) return causes;
      if (listAt(rule, "apiGroups").length === 0)
        causes.push(
          fieldError.required(`${at}.apiGroups`, "resource rules must supply at least one api group"),
        );
      if (listAt(rule, "resources").length === 0)
        causes.push(
          fieldError.required(`${at}.resources`, "resource rules must supply at least one resource"),
        );
      return causes;
    }),
};

/** Bindings: their role is immutable. */
export const bindingStrategy: Strategy = {
  defaults: (binding) => ({
    ...binding,
    roleRef: { apiGroup: rbacGroup, ...objectAt(binding, "roleRef") },
    ...(Array.isArray(binding["subjects"]) ? { subjects: binding["subjects"].map(defaultSubject) } : {}),
  }),
  validate: (binding) => {
    const role = objectAt(binding, "roleRef");
    const causes = [];
    const kinds = binding.kind === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
    if (!kinds.includes(stringAt(role, "kind")))
      causes.push(fieldError.unsupported("roleRef.kind", role["kind"] ?? "", kinds));
    if (stringAt(role, "name") === "") causes.push(fieldError.required("roleRef.name"));
    return causes;
  },
  validateUpdate: (next, previous) => {
    if (jsonEqual(next["roleRef"], previous["roleRef"])) return [];
    return [fieldError.invalid("roleRef", next["roleRef"], "cannot change roleRef")];
  },
};

function defaultSubject(subject: unknown): unknown {
  if (!isObject(subject) || subject["kind"] === "ServiceAccount") return subject;
  return { apiGroup: rbacGroup, ...subject };
}
