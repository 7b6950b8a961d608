import { sshKeys } from "@svc/proto";
import type { ServiceDeps } from "../service-deps.ts";
import { createAnnounceDoor, createReadDoor } from "./door.ts";
import { createAddKey, createListKeys, createRemoveKey } from "./own.ts";
import { createCloseSession, createOpenSession } from "./sessions.ts";

export function serveSshKeys(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(sshKeys.add, createAddKey(deps));
  mesh.serve(sshKeys.list, createListKeys(deps));
  mesh.serve(sshKeys.remove, createRemoveKey(deps));
  mesh.serve(sshKeys.openSession, createOpenSession(deps));
  mesh.serve(sshKeys.closeSession, createCloseSession(deps));
  mesh.serve(sshKeys.announceDoor, createAnnounceDoor(deps));
  mesh.serve(sshKeys.readDoor, createReadDoor(deps));
}
