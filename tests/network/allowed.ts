// Who may connect to whom at which ports, in an installation with everything switched on and no addresses narrowed. What is not
// here must be closed.

import { ports } from "./places.ts";

type Targets = Record<string, readonly number[]>;

const unfenced = ["kube-dns", "prometheus", "stranger"];
const everywhere = (...open: number[]): Targets =>
  Object.fromEntries(
    [...unfenced, "internet", "API server", "metadata service", "neighbouring machine"].map((to) => [
      to,
      open,
    ]),
  );
const each = (names: readonly string[], ...open: number[]): Targets =>
  Object.fromEntries(names.map((to) => [to, open]));
const reaches = (...parts: readonly Targets[]): Targets => {
  const all: Targets = {};
  for (const part of parts)
    for (const [to, open] of Object.entries(part))
      all[to] = [...new Set([...(all[to] ?? []), ...open])].sort((left, right) => left - right);
  return all;
};

const dns: Targets = { "kube-dns": [53] };
const nats: Targets = { nats: [4_222] };
const stores = reaches(nats, { postgres: [5_432] });
const kubernetes = everywhere(443, 6_443);
// The ports of byte transfers are chosen when their owner starts.
const bytes = each(["storage", "builds"], ...ports);
const internet: Targets = { internet: ports };
const face: Targets = { "gateway-internal": [8_081] };
const front = { "gateway-external": [8_080], proxy: [25_565], sftp: [2_222] };
const control = [
  ...[
    "postgres",
    "nats",
    "migrate",
    "gateway-external",
    "gateway-internal",
    "identity",
    "lifecycle",
    "storage",
  ],
  ...["builds", "ops-watchdog", "registry", "proxy", "sftp", "reaper"],
];
const servers = ["server", "neighbour", "login", "lobby", "drill"];

export const allowed: Record<string, Targets> = {
  postgres: dns,
  nats: reaches(dns, { nats: [6_222] }),
  migrate: reaches(dns, stores, kubernetes),
  reaper: reaches(dns, nats),
  registry: dns,
  "gateway-external": reaches(dns, nats, bytes),
  "gateway-internal": reaches(dns, nats, bytes),
  identity: reaches(dns, stores, everywhere(443, 587)),
  lifecycle: reaches(dns, stores, kubernetes, each(servers, 25_575)),
  storage: reaches(dns, stores, kubernetes, bytes, { drill: [25_565] }),
  builds: reaches(dns, stores, kubernetes, bytes, { registry: [5_000] }),
  "ops-watchdog": reaches(dns, stores, kubernetes, bytes, everywhere(587), each(control, 9_090)),
  proxy: reaches(dns, face, each(servers, 25_565)),
  sftp: reaches(dns, face, { "gateway-external": [8_080] }),
  ...Object.fromEntries(
    ["server", "neighbour", "lobby", "drill"].map((from) => [from, reaches(dns, internet)]),
  ),
  login: reaches(dns, internet, face),
  "world-job": reaches(dns, face),
  impostor: {},
  build: reaches(dns, face, { registry: [5_000] }),
  "pack-build": reaches(dns, face, { registry: [5_000], internet: [443] }),
  // Of those that no policy holds back, only what is open to them of svc is of interest.
  "kube-dns": front,
  prometheus: reaches(front, each(control, 9_090)),
  stranger: front,
  player: front,
  "neighbouring machine": front,
};
