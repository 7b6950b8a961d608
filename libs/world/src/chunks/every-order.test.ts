// Every order of the single steps of backups, sweeps and deletions of archives, with a kill before each step and with leases that
// are taken away, on the rule itself (docs/reference/backups.md#packs). What random orders may miss, this does not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decidePack } from "./decide-pack.ts";

// Packs and archives are bits: pack n is 1 << n. Each writer has one pack of its own and one lease.
type Writer = { at: number; newest: number; known: number };
type Sweep = {
  at: number;
  packs: number;
  retired: number;
  isWritten: boolean;
  referred: number;
  left: number;
};
type State = {
  packs: number;
  retired: number;
  leases: number;
  /** Packs that each archive refers to; -1 where it was deleted. The last one is the newest. */
  archives: number[];
  writers: Writer[];
  sweeps: Sweep[];
  /** Archives that may still be deleted, and kills and lost leases that may still happen. */
  deletions: number;
  mishaps: number;
};
type Order = readonly ["marks", "leases", "manifests"] | readonly ["manifests", "leases", "marks"];

const isOver = 99;
const firstOwnPack = 2;

function write(state: State, index: number): void {
  const writer = state.writers[index] as Writer;
  const lease = 1 << index;
  const own = 1 << (firstOwnPack + index);
  writer.at += 1;
  if (writer.at === 1) state.leases |= lease;
  else if (writer.at === 2) writer.known = ~state.retired;
  else if (writer.at === 3) writer.newest = state.archives.findLast((packs) => packs >= 0) ?? 0;
  else if (writer.at === 4) {
    writer.known &= writer.newest & state.packs;
    state.packs |= own;
  } else if (writer.at === 5) {
    // It reads back; what is gone is found.
    if ((writer.known & ~state.packs) === 0) return;
    state.leases &= ~lease;
    writer.at = isOver;
  } else {
    if ((state.leases & lease) !== 0) state.archives.push(own | writer.known);
    state.leases &= ~lease;
    writer.at = isOver;
  }
}

function sweepOne(state: State, sweep: Sweep, order: Order): void {
  const part = order[sweep.at];
  sweep.at += 1;
  if (part === "marks") [sweep.packs, sweep.retired] = [state.packs, state.retired];
  else if (part === "leases") sweep.isWritten = state.leases !== 0;
  else if (part === "manifests")
    sweep.referred = state.archives.reduce((all, packs) => (packs < 0 ? all : all | packs), 0);
  if (part !== undefined) {
    sweep.left = sweep.packs;
    return;
  }
  // One pack at a time; without a grace, because what protects must not be time.
  const pack = sweep.left & -sweep.left;
  sweep.left &= ~pack;
  const verdict = decidePack({
    ...{ isWritten: sweep.isWritten, isUnreadable: false, isMissing: false, now: 2, graceMs: 0 },
    isReferred: (sweep.referred & pack) !== 0,
    retiredAt: (sweep.retired & pack) !== 0 ? 1 : undefined,
  });
  if (verdict === "retire") state.retired |= pack;
  if (verdict === "delete") state.packs &= ~pack;
  if (sweep.left === 0) sweep.at = isOver;
}

// Much faster than `structuredClone`, and there are some hundred thousand states.
const copyOf = (state: State): State => ({
  ...state,
  archives: [...state.archives],
  writers: state.writers.map((one) => ({ ...one })),
  sweeps: state.sweeps.map((one) => ({ ...one })),
});

/** What can happen next, each as a state of its own. */
function* next(state: State, order: Order): Generator<State> {
  const after = (change: (copy: State) => void) => {
    const copy = copyOf(state);
    change(copy);
    return copy;
  };
  for (const [index, { at }] of state.writers.entries()) {
    if (at === isOver) continue;
    yield after((copy) => write(copy, index));
    if (state.mishaps === 0) continue;
    // It is killed and its lease stays, or its lease is taken away while it runs on.
    yield after((copy) => {
      copy.mishaps -= 1;
      (copy.writers[index] as Writer).at = isOver;
    });
    yield after((copy) => {
      copy.mishaps -= 1;
      copy.leases &= ~(1 << index);
    });
  }
  for (const [index, { at }] of state.sweeps.entries())
    if (at !== isOver) yield after((copy) => sweepOne(copy, copy.sweeps[index] as Sweep, order));
  for (const [index, packs] of state.archives.entries())
    if (packs >= 0 && state.deletions > 0)
      yield after((copy) => {
        copy.deletions -= 1;
        copy.archives[index] = -1;
      });
}

/** The states that can be reached, and one of those in which an archive lacks a pack. */
function explore(start: State, order: Order): { states: number; lost: State | undefined } {
  const seen = new Set([JSON.stringify(start)]);
  const open = [start];
  for (let state = open.pop(); state; state = open.pop()) {
    const { archives, packs } = state;
    if (archives.some((referred) => referred >= 0 && (referred & ~packs) !== 0))
      return { states: seen.size, lost: state };
    for (const one of next(state, order)) {
      const key = JSON.stringify(one);
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(one);
    }
  }
  return { states: seen.size, lost: undefined };
}

const writer = (): Writer => ({ at: 0, newest: 0, known: 0 });
const sweep = (): Sweep => ({ at: 0, packs: 0, retired: 0, isWritten: false, referred: 0, left: 0 });
/** Two archives, of which the newer one alone has pack 1. */
const startOf = (about: { writers: number; sweeps: number; retired: number }): State => ({
  ...{ packs: 0b11, retired: about.retired, leases: 0, archives: [0b01, 0b11], deletions: 2, mishaps: 1 },
  writers: Array.from({ length: about.writers }, writer),
  sweeps: Array.from({ length: about.sweeps }, sweep),
});

const inOrder = ["marks", "leases", "manifests"] as const;

for (const [what, about] of [
  ["a backup beside two sweeps", { writers: 1, sweeps: 2, retired: 0 }],
  ["two backups beside a sweep", { writers: 2, sweeps: 1, retired: 0 }],
  ["two backups beside a sweep that finds a retired pack", { writers: 2, sweeps: 1, retired: 0b10 }],
] as const)
  test(`${what} lose nothing in any order`, () => {
    const { states, lost } = explore(startOf(about), inOrder);
    assert.equal(lost, undefined, JSON.stringify(lost));
    assert.ok(states > 10_000, `only ${states} states were reached`);
  });

test("a sweep that reads manifests before leases and marks would lose one, so the model finds what is wrong", () => {
  const { lost } = explore(startOf({ writers: 1, sweeps: 2, retired: 0 }), ["manifests", "leases", "marks"]);
  assert.notEqual(lost, undefined);
});
