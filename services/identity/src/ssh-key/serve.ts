import { sshKeys } from "@svc/proto";
import type { ServiceDeps } from "../service-deps.ts";
import { createAnnounceEndpoint, createReadEndpoint } from "./endpoint.ts";
import { createAddKey, createListKeys, createRemoveKey } from "./own.ts";
import { createCloseSession, createOpenSession } from "./sessions.ts";

export function serveSshKeys(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(sshKeys.add, createAddKey(deps));
  mesh.serve(sshKeys.list, createListKeys(deps));
  mesh.serve(sshKeys.remove, createRemoveKey(deps));
  mesh.serve(sshKeys.openSession, createOpenSession(deps));
  mesh.serve(sshKeys.closeSession, createCloseSession(deps));
  mesh.serve(sshKeys.announceEndpoint, createAnnounceEndpoint(deps));
  mesh.serve(sshKeys.readEndpoint, createReadEndpoint(deps));
}
