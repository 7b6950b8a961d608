// Which forwarding secret a run has. Its key is chosen when the server starts from rest and written into the status before
// any object is created, against the version that the pass has seen. So the pod's file, which holds the secret, and the
// proxy, which derives it from the key, agree whatever crashes in between.

import { readFileSync } from "node:fs";
import type { Secret } from "@svc/kube";
import {
  forwardingKeyOf,
  type MinecraftServerStatus,
  parseForwardingMasters,
  serverForwardingSecret,
  sharedForwardingKey,
  systemForwardingSecrets,
} from "@svc/proto";
import {
  forwardingSecretName,
  managedLabels,
  namespaceOf,
  type Server,
  systemRoleOf,
} from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { ownerOf } from "./objects.ts";

export type ForwardingState =
  /** Forwarding is not configured: servers accept players from anywhere. */
  | { kind: "off" }
  | { kind: "unusable"; problem: string }
  | {
      kind: "on";
      /** Absent for gate and lobby, whose secrets are the same in every run. */
      key?: string;
      /** Content of the pod's file; absent when the master of the run is no longer known: then the file stays. */
      content?: string;
      /** This process has written exactly this content. */
      isWritten: boolean;
    };

type Run = { server: Server; status: MinecraftServerStatus; isAtRest: boolean };

export type ForwardingAccess = {
  read: (run: Run) => ForwardingState;
  wrote: (server: Server, content: string) => void;
  forget: (name: string) => void;
};

type Settings = Pick<LifecycleSettings, "forwarding_master_file" | "forwarding_shared_file">;

/** The files are small and local and are read in each pass that builds a pod, so a new master takes effect at the next start. */
export function createForwardingAccess(settings: Settings): ForwardingAccess {
  const written = new Map<string, string>();
  return {
    read: (run) => {
      const { name, uid } = run.server.metadata;
      try {
        const wanted = wantedOf(run, sourceOf(settings));
        if (!wanted) return { kind: "off" };
        const isWritten = !run.isAtRest && written.get(name) === `${uid} ${wanted.content}`;
        return { kind: "on", ...wanted, isWritten };
      } catch (error) {
        return { kind: "unusable", problem: `The forwarding secret: ${(error as Error).message}` };
      }
    },
    wrote: ({ metadata }, content) => void written.set(metadata.name, `${metadata.uid} ${content}`),
    forget: (name) => void written.delete(name),
  };
}

type Source = { shared: string } | { masters: readonly string[] };

function sourceOf({ forwarding_master_file: file, forwarding_shared_file: sharedFile }: Settings) {
  if (sharedFile !== "") {
    const shared = readFileSync(sharedFile, "utf8").trim();
    if (shared === "") throw new Error(`${sharedFile} is empty`);
    return { shared };
  }
  return file === "" ? undefined : { masters: parseForwardingMasters(readFileSync(file, "utf8")) };
}

function wantedOf(run: Run, source: Source | undefined): { key?: string; content?: string } | undefined {
  const { server, status, isAtRest } = run;
  const role = systemRoleOf(server);
  if (role === "login" || role === "lobby") {
    if (!source) return undefined;
    return {
      content: "shared" in source ? source.shared : systemForwardingSecrets(source.masters, role).join("\n"),
    };
  }
  const kept = isAtRest ? undefined : status.forwardingKey;
  const key = kept ?? (source && newKey(server, source));
  if (key === undefined) return undefined;
  const content = source && secretOf(source, { name: server.metadata.name, key });
  return { key, ...(content !== undefined && { content }) };
}

function newKey({ metadata }: Server, source: Source): string {
  if ("shared" in source) return sharedForwardingKey;
  const { uid = "", generation = 0 } = metadata;
  return forwardingKeyOf(source.masters[0] ?? "", { uid, generation });
}

function secretOf(source: Source, server: { name: string; key: string }): string | undefined {
  if ("shared" in source) return server.key === sharedForwardingKey ? source.shared : undefined;
  return serverForwardingSecret(source.masters, server);
}

/** The status with the key of this run, so that every phase of the pass shows it. */
export function withForwardingKey(
  status: MinecraftServerStatus,
  state: ForwardingState,
): MinecraftServerStatus {
  if (state.kind === "unusable") return status;
  const { forwardingKey: _before, ...rest } = status;
  return state.kind === "on" && state.key !== undefined ? { ...rest, forwardingKey: state.key } : rest;
}

/** The Secret that the pod mounts; owned by the server and deleted with it. */
export function forwardingSecretObject(server: Server, content: string): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: forwardingSecretName(server),
      namespace: namespaceOf(server),
      labels: managedLabels(server.metadata.name),
      ownerReferences: [ownerOf(server)],
    },
    type: "Opaque",
    data: { secret: Buffer.from(`${content}\n`).toString("base64") },
  };
}
