// `svc domain check` (docs/reference/cli.md#domain-check): the names of an installation as a visitor finds them.

import { randomBytes } from "node:crypto";
import { lookup, Resolver } from "node:dns/promises";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect as connectTls } from "node:tls";
import { attempt, findingsOutcome } from "../findings.ts";
import type { Outcome } from "../output.ts";
import type { Common } from "../program.ts";
import { pingGame } from "../stack/ping.ts";
import { readStackFile } from "../stack-file.ts";

export type DomainOptions = Common & {
  resolver?: string;
  gamePort?: number;
  panelPort?: number;
  plainHttp?: boolean;
};

type Place = {
  domain: string;
  isSecure: boolean;
  panelPort: number;
  gamePort: number;
  /** Addresses of a name, at least one. */
  resolve: (name: string) => Promise<string[]>;
};

const withinMs = 5_000;
const renewBeforeDays = 14;
const dayMs = 86_400_000;

/** Without a domain: the one of the local stack, with its ports. */
export async function checkDomain(domain: string | undefined, options: DomainOptions): Promise<Outcome> {
  const place = {
    ...(domain === undefined ? ofStack(options) : ofDomain(domain, options)),
    resolve: resolverOf(options),
  };
  const panels = [`console.${place.domain}`, `op.console.${place.domain}`];
  return findingsOutcome([
    ...(await Promise.all(panels.map((name) => attempt(`name ${name}`, () => addressesOf(name, place))))),
    await attempt(`names *.${place.domain}`, () => wildcard(place)),
    await attempt("game", () => game(place)),
    ...(place.isSecure
      ? await Promise.all(
          panels.map((name) => attempt(`certificate ${name}`, () => certificate(name, place))),
        )
      : []),
    ...(await Promise.all(panels.map((name) => attempt(`panel ${name}`, () => panel(name, place))))),
  ]);
}

function ofDomain(domain: string, { plainHttp = false, panelPort, gamePort }: DomainOptions) {
  return {
    domain: domain.toLowerCase().replace(/\.$/, ""),
    isSecure: !plainHttp,
    panelPort: panelPort ?? (plainHttp ? 80 : 443),
    gamePort: gamePort ?? 25_565,
  };
}

function ofStack({ data, panelPort, gamePort }: DomainOptions) {
  const { root_domain, external_base_url, game } = readStackFile(data);
  const { protocol, port } = new URL(external_base_url);
  return {
    domain: root_domain,
    isSecure: protocol === "https:",
    panelPort: panelPort ?? Number(port),
    gamePort: gamePort ?? game.port,
  };
}

function resolverOf({ resolver: server }: DomainOptions): Place["resolve"] {
  if (server === undefined)
    return async (name) => (await lookup(name, { all: true })).map(({ address }) => address);
  const resolver = new Resolver({ timeout: withinMs, tries: 2 });
  resolver.setServers([server]);
  return async (name) => {
    const both = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = both.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (found.length === 0 && both[0].status === "rejected") throw both[0].reason;
    return found;
  };
}

/** Throws in words when a name leads nowhere. */
async function find(name: string, { resolve }: Place): Promise<[string, ...string[]]> {
  const found = await resolve(name).catch((error: NodeJS.ErrnoException) => {
    const isMissing = error.code === "ENOTFOUND" || error.code === "ENODATA";
    throw new Error(isMissing ? withoutAddress(name) : `${name}: ${error.message}`);
  });
  const [first, ...others] = found.sort();
  if (first === undefined) throw new Error(withoutAddress(name));
  return [first, ...others];
}

// Browsers resolve names below localhost themselves; other programs ask the system, and not every system does.
const withoutAddress = (name: string) =>
  name.endsWith(".localhost")
    ? `this machine does not resolve ${name}; add it to /etc/hosts, or install libnss-myhostname`
    : `${name} has no address; add an A or AAAA record`;

async function addressesOf(name: string, place: Place): Promise<string> {
  return (await find(name, place)).join(", ");
}

const randomName = ({ domain }: Place) => `check-${randomBytes(4).toString("hex")}.${domain}`;

/** Servers come and go under the root domain: any name below it must lead to the proxy. */
async function wildcard(place: Place): Promise<string> {
  const [one, other] = await Promise.all(
    [randomName(place), randomName(place)].map((name) => addressesOf(name, place)),
  );
  if (one !== other) throw new Error(`two names lead to different addresses: ${one} and ${other}`);
  return one ?? "";
}

async function game(place: Place): Promise<string> {
  const name = randomName(place);
  const [host] = await find(name, place);
  const answer = await pingGame({ host, port: place.gamePort }, withinMs);
  return place.gamePort === 25_565
    ? answer
    : `${answer}; players need the port or an SRV record for each name`;
}

async function certificate(name: string, place: Place): Promise<string> {
  const [host] = await find(name, place);
  const socket = connectTls({ host, port: place.panelPort, servername: name });
  socket.setTimeout(withinMs, () => socket.destroy(new Error(`${name} does not finish the TLS handshake`)));
  try {
    await new Promise((done, fail) => socket.once("secureConnect", done).once("error", fail));
    const days = Math.floor((Date.parse(socket.getPeerCertificate().valid_to) - Date.now()) / dayMs);
    if (days < renewBeforeDays) throw new Error(`it expires in ${days} days; renew it`);
    return `valid for ${days} days`;
  } finally {
    socket.destroy();
  }
}

async function panel(name: string, place: Place): Promise<string> {
  const [host] = await find(name, place);
  const { isSecure, panelPort: port } = place;
  const send = isSecure ? httpsRequest : httpRequest;
  // Whether the certificate is right is a check of its own.
  const secure = isSecure ? { servername: name, rejectUnauthorized: false } : {};
  const asked = send({
    host,
    port,
    ...secure,
    headers: { host: name },
    signal: AbortSignal.timeout(withinMs),
  });
  const { status, type } = await new Promise<{ status: number; type: string }>((done, fail) => {
    asked.once("error", (error: Error) =>
      fail(error.name === "AbortError" ? new Error(`no answer from ${host}:${port}`) : error),
    );
    asked.once("response", (response) => {
      response.resume();
      done({ status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "" });
    });
    asked.end();
  });
  if (status !== 200 || !type.startsWith("text/html"))
    throw new Error(
      `${host}:${port} answers ${status} for ${name}, and not the panel; does the proxy before it keep the name?`,
    );
  return `served by ${host}:${port}`;
}
