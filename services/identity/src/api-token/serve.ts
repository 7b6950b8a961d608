import { apiTokens } from "@svc/proto";
import type { ServiceDeps } from "../service-deps.ts";
import { createCreateToken, createListTokens, createRevokeToken, readOwnToken } from "./own.ts";
import { createResolveToken } from "./resolve.ts";

export function serveApiTokens(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(apiTokens.create, createCreateToken(deps));
  mesh.serve(apiTokens.list, createListTokens(deps));
  mesh.serve(apiTokens.revoke, createRevokeToken(deps));
  mesh.serve(apiTokens.readOwn, readOwnToken);
  mesh.serve(apiTokens.resolve, createResolveToken(deps));
}
