// One answer to a GET over https, from a public address of an allowed host. The host is resolved once and the connection goes to
// just the address that was checked; each redirect is judged like the first address.

import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { isPublic } from "@svc/service/public-address";
import { StepFailure } from "../failure.ts";

export type Address = { address: string; family: number };

export type SourceRules = {
  /** With their port unless it is 443. */
  hosts: readonly string[];
  /** Longest wait for an answer and between two pieces of it. */
  stallMs: number;
  signal: AbortSignal;
  /** Of tests, whose server is on this machine. */
  network?: {
    resolve: (host: string) => Promise<Address[]>;
    isAllowed: (address: string) => boolean;
    ca: string;
  };
};

/** Asking again, or another address, may have another answer. */
export class SourceUnavailable extends Error {}

const mostRedirects = 5;
const redirects = [301, 302, 303, 307, 308];

/** The body. Throws `StepFailure` for what is not allowed, `SourceUnavailable` for what may work later or elsewhere. */
export async function* readSource(url: string, rules: SourceRules): AsyncGenerator<Buffer> {
  const response = await follow(url, rules);
  try {
    for await (const chunk of response) {
      rules.signal.throwIfAborted();
      yield chunk as Buffer;
    }
    if (!response.complete) throw new SourceUnavailable("the connection was closed");
  } catch (error) {
    rules.signal.throwIfAborted();
    throw error instanceof StepFailure ? error : new SourceUnavailable((error as Error).message);
  } finally {
    response.destroy();
  }
}

async function follow(first: string, rules: SourceRules): Promise<IncomingMessage> {
  let url = new URL(first);
  for (let hops = 0; hops <= mostRedirects; hops += 1) {
    assertAllowed(url, rules.hosts);
    const response = await ask(url, rules);
    const { statusCode: status = 0, headers } = response;
    if (status === 200) return response;
    response.destroy();
    if (!redirects.includes(status)) throw new SourceUnavailable(`${url.host} answered ${status}`);
    const { location = "" } = headers;
    if (!URL.canParse(location, url.href)) throw new SourceUnavailable(`${url.host} redirects to no address`);
    url = new URL(location, url.href);
  }
  throw new SourceUnavailable(`${new URL(first).host} redirects more than ${mostRedirects} times`);
}

function assertAllowed({ protocol, host, username, password }: URL, hosts: readonly string[]): void {
  const isAllowed = protocol === "https:" && username === "" && password === "" && hosts.includes(host);
  if (isAllowed) return;
  throw new StepFailure(`${protocol}//${host} is not allowed; builds.pack_hosts has ${hosts.join(", ")}`);
}

/** The address to connect to. A name of which any address is inside is refused, so that no answer's order matters. */
async function pin(hostname: string, { network }: SourceRules): Promise<Address> {
  const resolve = network?.resolve ?? ((host: string) => lookup(host, { all: true }));
  const found = await resolve(hostname).catch((error: Error) => {
    throw new SourceUnavailable(`${hostname} is not resolved: ${error.message}`);
  });
  const inside = found.find(({ address }) => !(network?.isAllowed ?? isPublic)(address));
  if (inside) throw new StepFailure(`${hostname} has the address ${inside.address}, which is not public`);
  const [first] = found;
  if (!first) throw new SourceUnavailable(`${hostname} has no address`);
  return first;
}

async function ask(url: URL, rules: SourceRules): Promise<IncomingMessage> {
  const { address, family } = await pin(url.hostname.replace(/^\[|\]$/g, ""), rules);
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const asked = request(
      {
        host: address,
        family,
        port: url.port || 443,
        path: `${url.pathname}${url.search}`,
        servername: url.hostname,
        headers: { host: url.host, "user-agent": "svc-build-agent", accept: "*/*" },
        // A connection of its own, so that none is used for another host of the same address.
        agent: false,
        timeout: rules.stallMs,
        signal: rules.signal,
        ...(rules.network && { ca: rules.network.ca }),
      },
      (response) => {
        answer = response;
        resolve(response);
      },
    );
    asked.on("timeout", () =>
      (answer ?? asked).destroy(new Error(`${url.host} sent nothing for ${rules.stallMs} ms`)),
    );
    asked.on("error", (error) =>
      reject(rules.signal.aborted ? rules.signal.reason : new SourceUnavailable(error.message)),
    );
    asked.end();
  });
}
