import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { createReadAgain } from "./read-again.ts";

/** Data that is on screen, and how often it was read; each reading ends when the test says so. */
function show(t: TestContext, queryKey: readonly unknown[], from = Date.now()) {
  t.mock.timers.enable({ apis: ["Date", "setTimeout"], now: from + 60_000 });
  const client = new QueryClient({ defaultOptions: { queries: { gcTime: Number.POSITIVE_INFINITY } } });
  const answers: (() => void)[] = [];
  let cut = 0;
  const queryFn = ({ signal }: { signal: AbortSignal }) => {
    signal.addEventListener("abort", () => cut++);
    return new Promise<{ items: unknown[] }>((settle) => {
      answers.push(() => settle({ items: [] }));
    });
  };
  client.setQueryData(queryKey, { items: [] }, { updatedAt: from });
  const leave = new QueryObserver(client, {
    queryKey,
    queryFn,
    staleTime: Number.POSITIVE_INFINITY,
  }).subscribe(() => undefined);
  const { take, takeAll, stop } = createReadAgain(client);
  t.after(() => {
    stop();
    leave();
    client.clear();
  });
  return {
    take,
    takeAll,
    reads: () => answers.length,
    cut: () => cut,
    answer: async () => {
      answers.at(-1)?.();
      await new Promise((wake) => setImmediate(wake));
    },
    pass: (ms: number) => t.mock.timers.tick(ms),
  };
}

const list = ["servers.fleet", { limit: 100, offset: 0 }];
const status = ["servers.viewStatus", { name: "anvil" }];
const change = (server: string) => ({ type: "server", server }) as const;

test("thousands of changes read a list once at first, and once more after a second", async (t) => {
  const shown = show(t, list);
  for (let n = 0; n < 100; n++) shown.take(Array.from({ length: 100 }, (_, at) => change(`s${n}-${at}`)));
  assert.equal(shown.reads(), 1);
  await shown.answer();
  shown.take([change("anvil")]);
  assert.equal(shown.reads(), 1);
  shown.pass(1_000);
  assert.equal(shown.reads(), 2);
  await shown.answer();
  shown.pass(60_000);
  assert.equal(shown.reads(), 2);
});

test("a reading that takes longer than changes pause is not cut short, and another one follows it", async (t) => {
  const shown = show(t, list);
  for (let second = 0; second < 20; second++) {
    shown.take([change("anvil")]);
    shown.pass(1_000);
  }
  assert.deepEqual([shown.reads(), shown.cut()], [1, 0]);
  await shown.answer();
  shown.pass(1_000);
  assert.deepEqual([shown.reads(), shown.cut()], [2, 0]);
});

test("the status of a server is read at once, and again when it changed meanwhile", async (t) => {
  const shown = show(t, status);
  shown.take([change("beacon"), change("anvil")]);
  assert.equal(shown.reads(), 1);
  shown.take([change("anvil")]);
  await shown.answer();
  shown.pass(250);
  assert.equal(shown.reads(), 2);
});

test("after a reset everything that changes are told of is read, once for several of them", (t) => {
  const shown = show(t, list);
  shown.takeAll();
  shown.takeAll();
  assert.equal(shown.reads(), 1);
});

test("what changes are not told of is left alone", (t) => {
  const shown = show(t, ["audit.search", {}]);
  shown.take([change("anvil")]);
  shown.takeAll();
  assert.equal(shown.reads(), 0);
});
