import type { Handler } from "@svc/mesh";
import type { links } from "@svc/proto";
import { panelOrigin } from "../config.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { mintBindCode } from "./code.ts";
import { saveBindCode } from "./code-store.ts";
import { sourceOf } from "./policy.ts";

/** identity.link.mint-code */
export function createMintCode({
  db,
  limits,
  now,
  settings,
}: Pick<ServiceDeps, "db" | "limits" | "now" | "settings">): Handler<typeof links.mintCode> {
  const panelUrl = panelOrigin(settings);
  return async (_context, { mc_uuid: mcUuid, auth_source }) => {
    const at = now();
    const code = mintBindCode();
    const expiresAt = new Date(at.getTime() + limits.bind_code_ttl);
    const authSource = auth_source ?? sourceOf(mcUuid);
    const keep = limits.bind_codes_per_player;
    await db
      .transaction()
      .execute((trx) => saveBindCode(trx, { code, mcUuid, authSource, now: at, expiresAt, keep }));
    return { code, expires_at: expiresAt.toISOString(), ...(panelUrl && { panel_url: panelUrl }) };
  };
}
