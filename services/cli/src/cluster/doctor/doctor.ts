import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type CustomResourceDefinition, connectKube } from "@svc/kube";
import { callerDir, kubectlConfigFile } from "../../config.ts";
import { type Finding, findingsOutcome } from "../../findings.ts";
import { readValues } from "../../manifests/values/read.ts";
import { CommandError, type Outcome } from "../../output.ts";
import { definitionFile } from "../definitions.ts";
import { expectedOf } from "./expected.ts";
import { type Hints, judge } from "./judge.ts";
import { observe } from "./observe.ts";

type ClusterOptions = { kubeconfig?: string; values?: string };

/** Checks an installation on a cluster against its values; exit code 1 when there is a problem. */
export async function diagnoseCluster(options: ClusterOptions): Promise<Outcome> {
  const values = readValues(options.values);
  const given = options.kubeconfig && resolve(callerDir, options.kubeconfig);
  const kubeconfigFile = given || kubectlConfigFile;
  const kube = connectKube({ kubeconfigFile });
  const expected = expectedOf(values);
  try {
    const observed = await observe(kube, expected);
    const shipped = JSON.parse(readFileSync(definitionFile, "utf8")) as CustomResourceDefinition;
    return findingsOutcome(judge({ expected, observed, hints: hintsFor(options.values) }, shipped));
  } catch (error) {
    if ((error as { code?: unknown }).code === 403)
      throw new CommandError(`this kubeconfig may not read all of svc: ${(error as Error).message}`);
    const finding: Finding = { check: "API server", ok: false, detail: (error as Error).message };
    return findingsOutcome([finding]);
  } finally {
    kube.close();
  }
}

function hintsFor(values: string | undefined): Hints {
  const given = values === undefined ? "" : ` --values ${values}`;
  return {
    prerequisites: `svc manifests prerequisites${given} | kubectl apply --server-side -f -`,
    objects: `svc manifests render${given} | kubectl apply -f -`,
  };
}
