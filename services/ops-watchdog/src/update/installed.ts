// Versions of what svc runs on, each asked of the thing itself.

import { connect as openSocket } from "node:net";
import { connectKube } from "@svc/kube";
import { connect } from "../bundle/snapshot.ts";

const answerWithinMs = 5_000;

export async function postgresqlVersion(url: string): Promise<string> {
  if (url === "") throw new Error("no database is configured");
  const client = await connect(url, "svc-update-check");
  try {
    const { rows } = await client.query<{ version: string }>(
      "select current_setting('server_version') as version",
    );
    return rows[0]?.version.split(" ")[0] ?? "";
  } finally {
    await client.end();
  }
}

/** A nats-server greets with its version before anybody signs in. `url` may name several, of which one is enough. */
export async function natsVersion(url: string | undefined): Promise<string> {
  if (!url) throw new Error("no NATS is configured");
  return Promise.any(url.split(",").map(greetingVersion)).catch((error: AggregateError) => {
    throw error.errors[0];
  });
}

function greetingVersion(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = openSocket({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 4222) });
    let greeting = "";
    const end = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(answerWithinMs, () => end(new Error("NATS does not answer")));
    socket.once("error", end);
    socket.on("data", (chunk) => {
      greeting += chunk.toString("latin1");
      const [, version] = /^INFO \{[^\n]*"version":"([^"]{1,64})"/.exec(greeting) ?? [];
      if (version !== undefined) {
        socket.destroy();
        resolve(version);
      } else if (greeting.length > 65_536 || greeting.includes("\n"))
        end(new Error("NATS greets without a version"));
    });
  });
}

export async function kubernetesVersion(kubeconfigFile: string | undefined): Promise<string> {
  const kube = connectKube({ kubeconfigFile });
  try {
    return await kube.version({ timeoutMs: answerWithinMs });
  } finally {
    kube.close();
  }
}
