// Operations that API tokens may call, for the tests of this library.

import { type AnyContract, nothing, type Operation, operation } from "@svc/proto";
import { z } from "zod";

const common = { summary: "A test.", spec: "none" };
const external = { face: "external", tier: "app" } as const;
const name = { name: z.string().min(1).max(63) };
const seen = z.strictObject({ principal: z.unknown(), input: z.unknown() });

export const tokenSee = operation({
  ...common,
  subject: "lifecycle.token.see",
  http: { ...external, method: "GET", path: "/servers/{name}/see", rights: ["see"] },
  params: name,
  output: seen,
});
export const tokenAct = operation({
  ...common,
  subject: "lifecycle.token.act",
  http: { ...external, method: "POST", path: "/servers/{name}/act", rights: ["power", "command"] },
  params: name,
  output: seen,
});
export const tokenOwn = operation({
  ...common,
  subject: "lifecycle.token.own",
  http: { ...external, method: "GET", path: "/own", rights: ["see"], serversBy: "owner" },
  output: seen,
});
/** Names no server, and nobody else looks: closed to tokens for some servers. */
export const tokenPlaceless = operation({
  ...common,
  subject: "lifecycle.token.placeless",
  http: { ...external, method: "GET", path: "/placeless", rights: ["see"] },
  output: seen,
});
export const tokenWatch = operation({
  ...common,
  subject: "lifecycle.token.watch",
  http: {
    ...external,
    method: "GET",
    path: "/servers/{name}/log",
    kind: "events",
    rights: ["console.read"],
  },
  params: name,
  output: nothing,
});
export const tokenDownload = operation({
  ...common,
  subject: "lifecycle.token.download",
  http: {
    ...external,
    method: "GET",
    path: "/servers/{name}/bytes",
    kind: "download",
    rights: ["files.read"],
  },
  params: name,
  output: z.unknown(),
});
const all: readonly AnyContract[] = [tokenSee, tokenAct, tokenOwn, tokenPlaceless, tokenWatch, tokenDownload];
export const tokenOperations: readonly Operation[] = all.filter(
  (one): one is Operation => one.http !== undefined,
);
