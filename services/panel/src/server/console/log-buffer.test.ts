import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogBuffer } from "./log-buffer.ts";

/** A buffer whose frames are drawn by hand. */
function bufferByHand() {
  const frames: (() => void)[] = [];
  const buffer = createLogBuffer((run) => void frames.push(run));
  const draw = () => {
    for (const run of frames.splice(0)) run();
  };
  return { buffer, frames, draw };
}

test("whoever draws the lines is told once for each frame, however many come", () => {
  const { buffer, frames, draw } = bufferByHand();
  let told = 0;
  const stop = buffer.subscribe(() => told++);
  for (let line = 0; line < 2_000; line++) buffer.append(1, `line ${line}`);
  assert.deepEqual([frames.length, buffer.lines().length, told], [1, 0, 0]);
  draw();
  assert.deepEqual([buffer.lines().length, told], [2_000, 1]);
  assert.equal(buffer.lines(), buffer.lines(), "nothing is drawn again without news");
  stop();
  buffer.append(2, "unheard");
  draw();
  assert.equal(told, 1);
});

test("the last twenty thousand lines are kept, and keep their numbers", () => {
  const { buffer, draw } = bufferByHand();
  for (let line = 0; line < 50_000; line++) {
    buffer.append(1, `line ${line}`);
    if (line % 500 === 0) draw();
  }
  draw();
  const lines = buffer.lines();
  assert.ok(lines.length >= 20_000 && lines.length <= 22_000, String(lines.length));
  assert.deepEqual([lines.at(-1)?.plain, lines.at(-1)?.id], ["line 49999", 49_999]);
  assert.equal(lines[0]?.plain, `line ${lines[0]?.id}`);
});

test("a line without a level is as bad as the one before it, and so is where lines are missing", () => {
  const { buffer, draw } = bufferByHand();
  buffer.append(1, "[12:00:00 ERROR]: it broke");
  buffer.append(1, "\tat a.b.C");
  buffer.appendGap(7);
  buffer.append(1, "[12:00:01 INFO]: fine");
  draw();
  assert.deepEqual(
    buffer.lines().map(({ rank, dropped }) => [rank, dropped]),
    [
      [3, undefined],
      [3, undefined],
      [3, 7],
      [1, undefined],
    ],
  );
});
