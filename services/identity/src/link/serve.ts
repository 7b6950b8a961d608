import { links } from "@svc/proto";
import type { ServiceDeps } from "../service-deps.ts";
import { createBind } from "./bind.ts";
import { createNamePlayers } from "./find.ts";
import { createMintCode } from "./mint-code.ts";
import {
  createLinkStatus,
  createLinkStatuses,
  createReadBlacklist,
  createReadStandings,
  createReclaim,
} from "./player.ts";

export function serveLinks(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(links.mintCode, createMintCode(deps));
  mesh.serve(links.linkStatus, createLinkStatus(deps));
  mesh.serve(links.linkStatuses, createLinkStatuses(deps));
  mesh.serve(links.bind, createBind(deps));
  mesh.serve(links.reclaimName, createReclaim(deps));
  mesh.serve(links.readBlacklist, createReadBlacklist(deps));
  mesh.serve(links.readStandings, createReadStandings(deps));
  mesh.serve(links.namePlayers, createNamePlayers(deps));
}
