import { links } from "@svc/proto";
import type { Serving } from "../service-deps.ts";
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

export function serveLinks(serving: Serving): void {
  const { mesh, deps } = serving;
  mesh.serve(links.mintCode, createMintCode(serving));
  mesh.serve(links.linkStatus, createLinkStatus(serving));
  mesh.serve(links.linkStatuses, createLinkStatuses(serving));
  mesh.serve(links.bind, createBind(serving));
  mesh.serve(links.reclaimName, createReclaim(serving));
  mesh.serve(links.readBlacklist, createReadBlacklist(serving));
  mesh.serve(links.readStandings, createReadStandings(serving));
  mesh.serve(links.namePlayers, createNamePlayers(deps));
}
