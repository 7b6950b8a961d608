import { oidc } from "@svc/proto";
import { isLocalProfile } from "../auth-source.ts";
import { clientSecretOf, faceOrigin } from "../config.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { createBegin, createBeginLink } from "./begin.ts";
import type { OidcDeps } from "./deps.ts";
import { createFinish } from "./finish.ts";
import { startLapse } from "./lapse.ts";
import { createFinishLink, createListOwn, createUnlink, describe } from "./link.ts";
import { createProvider } from "./provider.ts";

/** Throws when a client secret cannot be read; no provider is asked yet. */
export function serveOidc(service: ServiceDeps): { close: () => Promise<void> } {
  const { mesh, settings } = service;
  const isLocal = isLocalProfile(settings.server.root_domain);
  const providers = service.limits.oidc_provider.map((provider) =>
    createProvider({
      settings: provider,
      secret: clientSecretOf(provider),
      limits: service.limits,
      isLocal,
    }),
  );
  const origins = { player: faceOrigin(settings, "player"), operator: faceOrigin(settings, "operator") };
  const deps: OidcDeps = { ...service, providers, origins };
  const described = { providers: providers.map(describe) };
  mesh.serve(oidc.listProviders, async () => described);
  mesh.serve(oidc.begin, createBegin(deps));
  mesh.serve(oidc.finish, createFinish(deps));
  mesh.serve(oidc.listOwn, createListOwn(deps));
  mesh.serve(oidc.beginLink, createBeginLink(deps));
  mesh.serve(oidc.finishLink, createFinishLink(deps));
  mesh.serve(oidc.unlink, createUnlink(deps));
  return startLapse(service);
}
