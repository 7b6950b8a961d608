import { readFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { parse } from "yaml";
import type { Endpoint } from "../../libs/local-cluster/src/conformance/client.ts";
import { conformanceCases } from "../../libs/local-cluster/src/conformance/suite.ts";
import { removeNamespaces, withTestContext } from "../../libs/local-cluster/src/conformance/test-context.ts";

// SVC_KUBE_LANE names the kubeconfig (admin token) of a real API server with its controllers; beside it lies
// `<file>.nobody` for a user without rights, as the server of the kube lane writes both.
const lane = process.env["SVC_KUBE_LANE"];

describe("a real cluster passes the conformance suite", { concurrency: 6 }, () => {
  if (!lane) {
    test("skipped: set SVC_KUBE_LANE to the kubeconfig of a real API server", (t) =>
      t.skip("SVC_KUBE_LANE is not set"));
    return;
  }
  const endpoint = readEndpoint(lane);
  after(async () => removeNamespaces(await endpoint));
  for (const { name, run } of conformanceCases) test(name, async () => withTestContext(await endpoint, run));
});

type Kubeconfig = {
  clusters: {
    cluster: { server: string; "certificate-authority"?: string; "certificate-authority-data"?: string };
  }[];
  users: { user: { token: string } }[];
};

async function readEndpoint(file: string): Promise<Endpoint> {
  const admin = parse(await readFile(file, "utf8")) as Kubeconfig;
  const nobody = parse(await readFile(`${file}.nobody`, "utf8")) as Kubeconfig;
  const cluster = admin.clusters[0]?.cluster;
  const data = cluster?.["certificate-authority-data"];
  const path = cluster?.["certificate-authority"];
  const ca = data ? Buffer.from(data, "base64").toString() : path ? await readFile(path, "utf8") : undefined;
  return {
    url: cluster?.server ?? "",
    adminToken: admin.users[0]?.user.token ?? "",
    nobodyToken: nobody.users[0]?.user.token ?? "",
    ...(ca ? { ca } : {}),
  };
}
