// Where the kinds of an installation live in the API.

import { type KubeObject, type Resource, resource } from "@svc/kube";

const plurals: Record<string, string> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  ConfigMap: "configmaps",
  CronJob: "cronjobs",
  CustomResourceDefinition: "customresourcedefinitions",
  Deployment: "deployments",
  Ingress: "ingresses",
  Job: "jobs",
  LimitRange: "limitranges",
  MinecraftServer: "minecraftservers",
  Namespace: "namespaces",
  NetworkPolicy: "networkpolicies",
  PersistentVolume: "persistentvolumes",
  PersistentVolumeClaim: "persistentvolumeclaims",
  PodDisruptionBudget: "poddisruptionbudgets",
  PodMonitor: "podmonitors",
  PriorityClass: "priorityclasses",
  PrometheusRule: "prometheusrules",
  ResourceQuota: "resourcequotas",
  Role: "roles",
  RoleBinding: "rolebindings",
  Secret: "secrets",
  Service: "services",
  ServiceAccount: "serviceaccounts",
  StatefulSet: "statefulsets",
};

type Head = { apiVersion: string; kind: string; metadata: { namespace?: string } };

/** The resource of an object. Throws for a kind that no installation has. */
export function resourceOf({ apiVersion, kind, metadata }: Head): Resource<KubeObject> {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const plural = plurals[kind];
  if (!plural) throw new Error(`no installation of svc has a ${kind}`);
  return resource<KubeObject>({ group, version, plural, kind, namespaced: metadata.namespace !== undefined });
}
