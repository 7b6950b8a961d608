import { readFileSync } from "node:fs";
import type { Outcome } from "../output.ts";
import * as installed from "./installation.ts";
import { documents } from "./kustomize/files.ts";
import { usersText } from "./objects/nats.ts";
import { firstSecrets } from "./secrets.ts";
import { readValues } from "./values/read.ts";

type Options = { values?: string };

const definitionFile = new URL("../../../../deploy/crd/minecraftservers.svc.internal.json", import.meta.url);

export function render({ values: file }: Options): Outcome {
  const values = readValues(file);
  return printed(installed.installation.flatMap((one) => installed.objectsOf(one, values)));
}

export function prerequisites({ values: file }: Options): Outcome {
  const values = readValues(file);
  const definition: unknown = JSON.parse(readFileSync(definitionFile, "utf8"));
  return printed([definition, ...installed.prerequisites.flatMap((one) => installed.objectsOf(one, values))]);
}

export function secrets({ values: file }: Options): Outcome {
  return printed(firstSecrets(readValues(file)));
}

export function natsUsers(): Outcome {
  return { json: { users: usersText }, text: usersText.trimEnd() };
}

function printed(objects: readonly unknown[]): Outcome {
  return { json: { apiVersion: "v1", kind: "List", items: objects }, text: documents(objects).trimEnd() };
}
