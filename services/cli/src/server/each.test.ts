import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@svc/client";
import { RefusedError } from "../account/refusal.ts";
import { CommandError, type Outcome } from "../output.ts";
import { eachServer } from "./each.ts";

const refusal = (code: string) =>
  new RefusedError(`no: ${code}`, new ApiError("no", { status: 409, code, requestId: "req-1" }));
const fine = async (name: string): Promise<Outcome> => ({ json: { name }, text: `${name} is waking.` });
type Results = { results: { name: string; result: string; code?: string; message: string }[] };
const resultsOf = ({ json }: Outcome) =>
  (json as Results).results.map(({ name, result }) => `${name} ${result}`);

test("one server has the outcome of the act, and its error", async () => {
  assert.deepEqual(await eachServer(["a", "a"], fine), await fine("a"));
  await assert.rejects(
    eachServer(["a"], () => Promise.reject(refusal("cooldown"))),
    /no: cooldown/,
  );
});

test("several have a row each, in their order, and one that is refused keeps no other from its turn", async () => {
  const act = (name: string) => (name === "b" ? Promise.reject(refusal("cooldown")) : fine(name));
  const outcome = await eachServer(["c", "b", "a", "c"], act);
  assert.deepEqual(resultsOf(outcome), ["c done", "b failed", "a done"]);
  assert.equal(outcome.exitCode, 1);
  assert.match(outcome.text, /SERVER +RESULT +SAYS\nc +done +c is waking\.\nb +cooldown +no: cooldown\n/);
  assert.equal((await eachServer(["a", "b"], fine)).exitCode, 0);
});

test("an act that ends badly is a failure, and a text of several lines stands in one", async () => {
  const outcome = await eachServer(["a", "b"], async () => ({ json: {}, text: "TAG\n  one", exitCode: 1 }));
  assert.deepEqual(resultsOf(outcome), ["a failed", "b failed"]);
  assert.match(outcome.text, /a +failed +TAG; one/);
});

test("no more than four are asked at once", async () => {
  let now = 0;
  let most = 0;
  const act = async (name: string) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return fine(name);
  };
  const names = Array.from({ length: 9 }, (_, n) => `srv-${n}`);
  assert.equal(resultsOf(await eachServer(names, act)).length, 9);
  assert.equal(most, 4);
});

test("where nobody is signed in the others are left out", async () => {
  const names = Array.from({ length: 6 }, (_, n) => `srv-${n}`);
  const asked: string[] = [];
  const act = (name: string) => {
    asked.push(name);
    return Promise.reject(new CommandError("you are not signed in"));
  };
  const outcome = await eachServer(names, act);
  assert.equal(asked.length, 4);
  assert.deepEqual(resultsOf(outcome).slice(-2), ["srv-4 left_out", "srv-5 left_out"]);
});
