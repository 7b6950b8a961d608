import { connectMesh, type Mesh } from "@svc/mesh";
import { createLogger } from "@svc/telemetry";
import { buildVersion, operatorNatsUrl } from "./config.ts";
import { readStackFile } from "./stack-file.ts";

/** Connects to the mesh as `operator`. */
export async function joinAsOperator(dataDir: string): Promise<Mesh> {
  const url = new URL(operatorNatsUrl() ?? readStackFile(dataDir).nats_url);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = "";
  url.password = "";
  return connectMesh({
    service: "operator",
    url: url.href,
    user: user || "operator",
    password,
    log: createLogger("svc", "error"),
    version: buildVersion,
    signal: AbortSignal.timeout(10_000),
  });
}
