// Settings of the external gateway (docs/reference/settings.md).

import { section } from "@svc/config";
import { gatewaySection, type ListenAddress, parseListen } from "@svc/http-gateway";
import { z } from "zod";

export const settings = z.strictObject({
  server: section({
    /** Address of the external face, host:port. */
    listen: z.string().default("0.0.0.0:8080"),
    /** Domain of the installation; a subdomain of it leads to a server. */
    root_domain: z.string().regex(/\./, "must be a domain with a dot in it").default("svc.localhost"),
  }),
  auth: section({
    /** Host of the operator console; unset = `op.console.` and the root domain. */
    admin_hostname: z.string().optional(),
    /** Host of the panel, and relying party of passkeys; unset = `console.` and the root domain, and no links to the panel. */
    panel_hostname: z.string().optional(),
    /** Set on an installation behind the edge tunnel: its visitor header then tells the client address. */
    access_jwt_aud: z.string().default(""),
    /** Header with the client address, set by what stands before the gateway; empty = the address of the connection. */
    client_ip_header: z
      .string()
      .regex(/^[A-Za-z0-9-]*$/, "must be the bare name of a header")
      .default(""),
    /** Further origins at which people sign in, for example with another port. */
    extra_origins: z.array(z.string()).default([]),
  }),
  gateway: gatewaySection,
  panel: section({
    /** Folder of the built panel; empty serves the operations alone. */
    dir: z.string().default(""),
  }),
});
type Settings = z.output<typeof settings>;

/** SVC_LISTEN wins over the file. */
export function listenAddress({ server }: Settings): ListenAddress {
  return parseListen(process.env["SVC_LISTEN"] ?? server.listen);
}

/** Host of the operator console. */
export function adminHostname({ auth, server }: Settings): string {
  return auth.admin_hostname ?? `op.console.${server.root_domain}`;
}

/** Host of the players' panel. */
export function panelHostname({ auth, server }: Settings): string {
  return auth.panel_hostname ?? `console.${server.root_domain}`;
}

/** Lower-case name of the header that tells the client address; empty = the TCP peer. */
export function clientIpHeader({ auth }: Settings): string {
  if (auth.client_ip_header !== "") return auth.client_ip_header.toLowerCase();
  return auth.access_jwt_aud === "" ? "" : "cf-connecting-ip";
}
