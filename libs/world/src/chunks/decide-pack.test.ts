import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, test } from "node:test";
import { decidePack, type PackFacts, type PackVerdict } from "./decide-pack.ts";

const hour = 3_600_000;
const unused: PackFacts = {
  isWritten: false,
  isUnreadable: false,
  isMissing: false,
  isReferred: false,
  retiredAt: undefined,
  now: 100 * hour,
  graceMs: 24 * hour,
};
const old = 70 * hour;

const table: [what: string, facts: Partial<PackFacts>, verdict: PackVerdict][] = [
  ["a pack that nothing refers to is retired, however old it is", {}, "retire"],
  ["one that an archive refers to stays", { isReferred: true }, "keep"],
  ["one that was retired and is referred to stays", { isReferred: true, retiredAt: old }, "keep"],
  ["one that was retired within the grace stays", { retiredAt: 99 * hour }, "keep"],
  ["one that was retired just the grace ago stays", { retiredAt: 76 * hour }, "keep"],
  ["one that was retired longer ago goes", { retiredAt: 76 * hour - 1 }, "delete"],
  ["one that was retired in the future stays", { retiredAt: 200 * hour }, "keep"],
  ["one whose mark has no time stays", { retiredAt: Number.NaN }, "keep"],
  ["nothing goes while an archive is written", { isWritten: true, retiredAt: old }, "keep"],
  ["nothing is retired while an archive is written", { isWritten: true }, "keep"],
  ["nothing goes while a manifest cannot be read", { isUnreadable: true, retiredAt: old }, "keep"],
  ["nothing is retired while a manifest cannot be read", { isUnreadable: true }, "keep"],
  ["nothing goes while a recorded archive is missing", { isMissing: true, retiredAt: old }, "keep"],
  ["nothing is retired while a recorded archive is missing", { isMissing: true }, "keep"],
];

describe("what becomes of a pack", () => {
  for (const [what, facts, verdict] of table)
    test(what, () => assert.equal(decidePack({ ...unused, ...facts }), verdict));
});

// The protocol as a model: writers, sweeps and deletions of archives, each in its single steps, in any order, killed anywhere.
// Deletions of leases happen whenever somebody takes a writer for dead, rightly or not.

type Archive = { name: number; packs: Set<number> };
type Store = {
  archives: Archive[];
  packs: Set<number>;
  retired: Map<number, number>;
  leases: Set<number>;
};
type Actor = Generator<string, void>;

let counter = 0;
const newName = () => {
  counter += 1;
  return counter;
};

function* write(store: Store, random: () => number): Actor {
  const lease = newName();
  store.leases.add(lease);
  yield "lease";
  const newest = store.archives.at(-1);
  yield "newest archive";
  const known = [...(newest?.packs ?? [])].filter(
    (pack) => store.packs.has(pack) && !store.retired.has(pack),
  );
  yield "known";
  const own = newName();
  store.packs.add(own);
  yield "pack";
  const packs = new Set([own, ...known.filter(() => random() < 0.7)]);
  // The read-back finds what is gone.
  if ([...packs].some((pack) => !store.packs.has(pack))) {
    store.leases.delete(lease);
    return;
  }
  yield "read back";
  if (store.leases.delete(lease)) store.archives.push({ name: lease, packs });
}

/** Without any grace: what protects must not be time. */
function* sweep(store: Store, now: () => number): Actor {
  const facts = [...store.packs].map((pack) => ({ pack, retiredAt: store.retired.get(pack) }));
  yield "marks";
  const isWritten = store.leases.size > 0;
  yield "leases";
  const listed = [...store.archives];
  yield "manifests listed";
  const referred = new Set<number>();
  let isUnreadable = false;
  for (const archive of listed) {
    if (store.archives.includes(archive)) for (const pack of archive.packs) referred.add(pack);
    else isUnreadable = true;
    yield "manifest";
  }
  for (const { pack, retiredAt } of facts) {
    const verdict = decidePack({
      ...{ isWritten, isUnreadable, isMissing: false, isReferred: referred.has(pack) },
      ...{ retiredAt, now: now(), graceMs: 0 },
    });
    if (verdict === "retire" && !store.retired.has(pack)) store.retired.set(pack, now());
    if (verdict === "delete") {
      store.packs.delete(pack);
      yield "pack deleted";
      store.retired.delete(pack);
    }
    yield verdict;
  }
}

/** Archives that were written. */
function play(seed: number): number {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const store: Store = { archives: [], packs: new Set(), retired: new Map(), leases: new Set() };
  let time = 0;
  let written = 0;
  let actors: Actor[] = [];
  for (let step = 0; step < 600; step += 1) {
    time += 1;
    const roll = random();
    if (roll < 0.08) actors.push(write(store, random));
    else if (roll < 0.16) actors.push(sweep(store, () => time));
    else if (roll < 0.22) store.archives.splice(Math.floor(random() * store.archives.length), 1);
    else if (roll < 0.24) store.leases.delete([...store.leases][0] ?? -1);
    else if (roll < 0.27) actors = actors.filter(() => random() < 0.8);
    else {
      const actor = actors[Math.floor(random() * actors.length)];
      const before = store.archives.length;
      if (actor?.next().done) actors = actors.filter((one) => one !== actor);
      written += Math.max(0, store.archives.length - before);
    }
    for (const { name, packs } of store.archives)
      for (const pack of packs)
        assert.ok(store.packs.has(pack), `seed ${seed}, step ${step}: archive ${name} lost pack ${pack}`);
  }
  return written;
}

test("in any order of writers, sweeps, deletions and kills, no archive loses a pack", () => {
  const seed = randomInt(2 ** 31);
  let archives = 0;
  for (let round = 0; round < 400; round += 1) archives += play(seed + round);
  assert.ok(archives > 1_000, `seed ${seed}: only ${archives} archives were written`);
});
