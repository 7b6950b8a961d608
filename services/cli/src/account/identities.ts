// Identities at OpenID providers that open the account (docs/reference/sign-in.md#oidc-link).

import { type OutputOf, oidc } from "@svc/proto";
import { CommandError, type Outcome, planned, table } from "../output.ts";
import { connectExternal } from "./external.ts";
import { addressOf } from "./panel-client.ts";

type At = { data: string };
export type Linked = OutputOf<typeof oidc.listOwn>["identities"][number];
type Provider = OutputOf<typeof oidc.listProviders>["providers"][number];

export async function listIdentities({ data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  const { identities } = await external.call(oidc.listOwn, {});
  const { providers } = await external.call(oidc.listProviders, {});
  const page = addressOf(data, external.panelHost, "/account");
  return { json: { identities, providers }, text: identitiesText({ identities, providers, page }) };
}

/** `page`: where a browser links one. */
export function identitiesText({
  identities,
  providers,
  page,
}: {
  identities: readonly Linked[];
  providers: readonly Provider[];
  page: string;
}): string {
  const linked = identities.map((one) => [
    ...[one.id, one.provider?.name.en ?? one.issuer, one.label || "-"],
    ...[one.provider ? "linked" : "no way in: its provider is no longer set up", one.created_at.slice(0, 10)],
    one.last_used_at?.slice(0, 19) ?? "never",
  ]);
  const known = new Set(identities.map(({ provider }) => provider?.id));
  const open = providers
    .filter(({ id }) => !known.has(id))
    .map(({ name }) => ["-", name.en, "-", "not linked", "-", "-"]);
  const rows = [...linked, ...open];
  if (rows.length === 0) return "This installation has no OpenID providers, and your account no identities.";
  const list = table([["ID", "PROVIDER", "LABEL", "STATE", "SINCE", "LAST USED"], ...rows]);
  return providers.length === 0 ? list : `${list}\nLink one in a browser: ${page}`;
}

/** By id, or by the id of a provider at which only one is linked. Needs `--yes` and a fresh proof. */
export async function unlinkIdentity(
  wanted: string,
  { data, yes }: At & { yes?: boolean },
): Promise<Outcome> {
  const external = connectExternal(data);
  const { identities } = await external.call(oidc.listOwn, {});
  const identity = identityNamed(identities, wanted);
  const { id } = identity;
  const what = nameOf(identity);
  if (yes !== true)
    return planned(
      { unlink: id },
      `${what} will no longer open your account, and your other sessions end. It can be linked again in the panel.`,
    );
  await external.call(oidc.unlink, { id });
  return {
    json: { id, unlinked: true },
    text: `${what} no longer opens your account; your other sessions have ended.`,
  };
}

export function identityNamed(identities: readonly Linked[], wanted: string): Linked {
  const found = identities.filter(({ id, provider }) => id === wanted || provider?.id === wanted);
  const [identity] = found;
  if (!identity)
    throw new CommandError(
      `your account has no identity ${wanted}; list them with: \`svc account identities\``,
    );
  if (found.length > 1)
    throw new CommandError(`${found.length} identities are at ${wanted}; give the id of one`);
  return identity;
}

function nameOf({ provider, issuer, label }: Linked): string {
  return `${provider?.name.en ?? issuer}${label === "" ? "" : ` (${label})`}`;
}
