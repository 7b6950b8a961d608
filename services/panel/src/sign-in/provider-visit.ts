// What a tab remembers while the person is at a provider (docs/reference/sign-in.md#oidc). The secret shows that the answer
// comes back to where it was asked for; it is gone with the tab.

type Visit = { isLink: boolean; secret: string; next: string };
type Begun = { url: string; state: string; secret: string };

const keyOf = (state: string) => `svc-provider ${state}`;

/** Sends the tab to the provider. */
export function leaveForProvider({ url, state, secret }: Begun, more: Omit<Visit, "secret">): void {
  sessionStorage.setItem(keyOf(state), JSON.stringify({ ...more, secret }));
  location.assign(url);
}

/** With what a tab came back. */
export type Return =
  | { kind: "answer"; isLink: boolean; next: string; answer: Answer }
  | { kind: "cancelled" | "refused"; isLink: boolean }
  | { kind: "elsewhere" };
type Answer = { provider: string; state: string; secret: string; code: string; iss?: string };

type Address = { pathname: string; search: string };

/** Reads the answer from the address; `find` is the memory of the tab. */
export function readReturn({ pathname, search }: Address, find: (key: string) => string | null): Return {
  const given = new URLSearchParams(search);
  const provider = pathname.split("/")[3] ?? "";
  const [state, code, error, iss] = ["state", "code", "error", "iss"].map((name) => given.get(name));
  const visit = state ? parse(find(keyOf(state))) : undefined;
  if (!state || !visit) return { kind: "elsewhere" };
  const { isLink, secret, next } = visit;
  if (!code) return { kind: error === "access_denied" ? "cancelled" : "refused", isLink };
  return { kind: "answer", isLink, next, answer: { provider, state, secret, code, ...(iss && { iss }) } };
}

/** An answer is used once. */
export function forgetVisit(query: string): void {
  const state = new URLSearchParams(query).get("state");
  if (state) sessionStorage.removeItem(keyOf(state));
}

function parse(text: string | null): Visit | undefined {
  try {
    const { isLink, secret, next } = JSON.parse(text ?? "") as Partial<Visit>;
    if (typeof secret !== "string" || typeof isLink !== "boolean" || typeof next !== "string")
      return undefined;
    return { isLink, secret, next };
  } catch {
    return undefined;
  }
}
