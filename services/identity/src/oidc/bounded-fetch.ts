// Requests to a provider: only to safe addresses, within a time and a size, and never after a redirect.

import { isSafeAddress } from "../oidc-provider.ts";

/** The provider does not answer as a working one does; the caller may try again later. */
export class ProviderDown extends Error {
  override name = "ProviderDown";
}

type Bounds = { timeoutMs: number; bytes: number; isLocal: boolean };
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A `fetch` that throws `ProviderDown` for all that is not a whole answer below status 500. */
export function boundedFetch({ timeoutMs, bytes, isLocal }: Bounds): Fetch {
  return async (url, init) => {
    if (!isSafeAddress(url, { isLocal })) throw new ProviderDown("an address of the provider is not https");
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, { ...init, redirect: "manual", signal });
      const body = await readBody(response, bytes);
      if (response.status >= 500) throw new ProviderDown(`the provider answered ${response.status}`);
      const isEmpty = response.status === 204 || response.status === 304;
      return new Response(isEmpty ? null : body, { status: response.status, headers: response.headers });
    } catch (error) {
      if (error instanceof ProviderDown) throw error;
      throw new ProviderDown("the provider did not answer", { cause: error });
    }
  };
}

async function readBody(response: Response, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw new ProviderDown(`the provider's answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
