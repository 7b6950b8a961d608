// All objects of an installation, from one set of values.

import { priorityFile } from "./objects/cluster.ts";
import type { ObjectFile } from "./objects/common.ts";
import { configFile, settingsText } from "./objects/config.ts";
import { proxyFile, systemServerFile } from "./objects/game.ts";
import { migrationFile, reaperFile } from "./objects/jobs.ts";
import { monitoringFile } from "./objects/monitoring.ts";
import { namespaceFile } from "./objects/namespaces.ts";
import { natsFile } from "./objects/nats.ts";
import { controlPolicies } from "./objects/network/control.ts";
import { buildNamespace, gamePolicies } from "./objects/network/game.ts";
import { postgresFile } from "./objects/postgres.ts";
import { registryFile } from "./objects/registry.ts";
import { roleFile } from "./objects/roles.ts";
import { serviceFiles } from "./objects/services.ts";
import { sftpFile } from "./objects/sftp.ts";
import { volumeFile } from "./objects/volumes.ts";
import { evaluate } from "./template/evaluate.ts";
import { valueRefs } from "./template/expression.ts";
import type { Values } from "./values/schema.ts";

const v = valueRefs<Values>();

/** Texts that several objects hold. */
export const sharedTexts = [settingsText(v)];

/** What is applied before the rest, once and at each upgrade; the custom resource comes with it. */
export const prerequisites: readonly ObjectFile[] = [namespaceFile(v)];

/** The files of an installation, in the order in which they are applied. */
export const installation: readonly ObjectFile[] = [
  priorityFile(),
  roleFile(v),
  configFile(v),
  volumeFile(v),
  postgresFile(v),
  natsFile(v),
  migrationFile(v),
  ...serviceFiles(v),
  registryFile(v),
  buildNamespace(v),
  proxyFile(v),
  systemServerFile(v),
  sftpFile(v),
  reaperFile(v),
  controlPolicies(v),
  gamePolicies(v),
  monitoringFile(v),
];

export type KubernetesObject = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [key: string]: unknown };
  [key: string]: unknown;
};

/** The objects of one file for the given values. */
export function objectsOf({ objects }: ObjectFile, values: Values): KubernetesObject[] {
  return objects
    .map((object) => evaluate(object, values) as KubernetesObject | undefined)
    .filter((object) => object !== undefined);
}
