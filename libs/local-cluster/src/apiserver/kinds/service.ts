import type { KubeObject } from "../../cluster-api.ts";
import { fieldError, type StatusCause } from "../field-error.ts";
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../json.ts";
import type { Strategy } from "./strategy.ts";

function defaultPort(port: unknown): unknown {
  if (!isObject(port)) return port;
  return { protocol: "TCP", ...port, targetPort: port["targetPort"] ?? port["port"] };
}

function isHeadless(spec: JsonObject): boolean {
  return spec["clusterIP"] === "None";
}

function validatePorts(spec: JsonObject): StatusCause[] {
  const ports = listAt(spec, "ports");
  const causes: StatusCause[] = [];
  if (ports.length === 0 && !isHeadless(spec) && spec["type"] !== "ExternalName") {
    causes.push(fieldError.required("spec.ports"));
  }
  const seen = new Set<string>();
  ports.forEach((port, index) => {
    const at = `spec.ports[${index}]`;
    const number = isObject(port) ? port["port"] : undefined;
    if (typeof number !== "number" || number < 1 || number > 65535) {
      causes.push(fieldError.invalid(`${at}.port`, number ?? 0, "must be between 1 and 65535, inclusive"));
    }
    const name = stringAt(port, "name");
    if (name === "" && ports.length > 1) causes.push(fieldError.required(`${at}.name`));
    if (name !== "" && seen.has(name)) causes.push(fieldError.duplicate(`${at}.name`, name));
    seen.add(name);
  });
  return causes;
}

/** The cluster address of a service, empty when it has none. */
export function clusterIpOf(service: KubeObject): string {
  const address = stringAt(service.spec, "clusterIP");
  return address === "None" ? "" : address;
}

/** Services: each except a headless one gets an address and keeps it. */
export const serviceStrategy: Strategy = {
  defaults: (service, previous) => {
    const spec: JsonObject = {
      type: "ClusterIP",
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ...objectAt(service, "spec"),
    };
    if (Array.isArray(spec["ports"])) spec["ports"] = spec["ports"].map(defaultPort);
    const kept = previous && spec["type"] !== "ExternalName" ? objectAt(previous, "spec") : {};
    for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
      if ((spec[key] === undefined || spec[key] === "") && kept[key] !== undefined) spec[key] = kept[key];
    }
    return { ...service, spec };
  },
  onCreate: (service, { allotClusterIp }) => {
    const spec = objectAt(service, "spec");
    if (spec["type"] === "ExternalName") return { ...service, status: { loadBalancer: {} } };
    const wanted = stringAt(spec, "clusterIP");
    const clusterIP = isHeadless(spec) ? "None" : allotClusterIp(wanted || undefined);
    const full = {
      ...spec,
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    };
    return { ...service, spec: full, status: { loadBalancer: {} } };
  },
  validate: (service) => validatePorts(objectAt(service, "spec")),
  validateUpdate: (next, previous) => {
    const [after, before] = [stringAt(next.spec, "clusterIP"), stringAt(previous.spec, "clusterIP")];
    if (before === "" || after === before || stringAt(next.spec, "type") === "ExternalName") return [];
    return [fieldError.invalid("spec.clusterIPs[0]", [after], "may not change once set")];
  },
};
