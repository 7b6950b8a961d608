// Who reaches whom in an installed cluster, tried with connections through a packet filter that is made of the shipped network
// policies. A pod of each kind tries every port of every other.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findBinary } from "@svc/registry/testing";
import { runInNamespaces } from "../namespaces/run.ts";
import { allowed } from "./allowed.ts";
import type { Inside, Plan } from "./inside.ts";
import type { Attempt, Outcome } from "./peers.ts";
import { outside, place, ports } from "./places.ts";
import { controlPods, objectsFor, otherPods } from "./pods.ts";
import { filterText, type Policy } from "./rules.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-network-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const missing = ["iptables-restore", "ip", "unshare", "nsenter"].filter((name) => !findBinary(name));
const skip =
  process.getuid?.() !== 0
    ? "only root may make networks"
    : missing.length > 0 && `${missing.join(", ")} not on PATH (apt-get install iptables iproute2)`;

type End = { name: string; namespace?: string; source?: string | undefined; target?: string | undefined };

const valuesFile = join(dir, "values.yaml");
writeFileSync(valuesFile, JSON.stringify({ sftp: { enabled: true } }));
const objects = objectsFor(valuesFile);
const policies = objects.filter(({ kind }) => kind === "NetworkPolicy") as unknown as Policy[];
const pods = place([...controlPods(objects), ...otherPods]);
const ends: End[] = [...pods, ...Object.entries(outside).map(([name, end]) => ({ name, ...end }))];
const isOurs = ({ namespace = "" }: End) => ["svc", "minecraft", "svc-build"].includes(namespace);

type Named = Attempt & { from: string; to: string };
const attempts: Named[] = ends.flatMap((from) =>
  ends.flatMap((to) =>
    from.source !== undefined && to.target !== undefined && (isOurs(from) || isOurs(to))
      ? ports.map((port) => ({
          ...{ from: from.name, to: to.name, port },
          ...{ source: from.source ?? "", target: to.target ?? "" },
        }))
      : [],
  ),
);

/** What is open, as lines of `from -> to: ports`. */
function openOf(outcomes: readonly Outcome[]): string[] {
  const found: Record<string, Record<string, number[]>> = {};
  attempts.forEach(({ from, to, port }, index) => {
    if (outcomes[index] !== "open") return;
    found[from] ??= {};
    found[from][to] ??= [];
    found[from][to].push(port);
  });
  return linesOf(found);
}

function linesOf(open: Record<string, Record<string, readonly number[]>>): string[] {
  return Object.entries(open)
    .flatMap(([from, targets]) =>
      Object.entries(targets).map(([to, list]) => `${from} -> ${to}: ${list.join(" ")}`),
    )
    .sort();
}

async function tryAll(filters: readonly string[]): Promise<Outcome[][]> {
  const plan: Plan = {
    sources: ends.flatMap(({ source }) => source ?? []),
    targets: ends.flatMap(({ target }) => target ?? []),
    attempts: attempts.map(({ source, target, port }) => ({ source, target, port })),
    filters,
  };
  const inside: Inside = { plan: join(dir, "plan.json"), out: join(dir, "found.json") };
  writeFileSync(inside.plan, JSON.stringify(plan));
  const { code, output } = await runInNamespaces(
    join(import.meta.dirname, "inside.ts"),
    { prepare: [] },
    inside,
  );
  assert.equal(code, 0, output);
  return JSON.parse(readFileSync(inside.out, "utf8"));
}

test("the policies of an installation let through what svc needs and nothing else", { skip }, async () => {
  const [unfiltered = [], filtered = []] = await tryAll(["", filterText(policies, pods)]);
  assert.deepEqual(
    attempts.filter((_, index) => unfiltered[index] !== "open"),
    [],
    "without a filter everything is open",
  );
  assert.deepEqual(openOf(filtered), linesOf(allowed));
});
