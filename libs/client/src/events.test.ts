import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvents, type StreamEvent } from "./events.ts";

async function eventsOf(...chunks: readonly Uint8Array[]): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of readEvents(ReadableStream.from(chunks) as ReadableStream<Uint8Array>))
    events.push(event);
  return events;
}
const bytes = (text: string) => new TextEncoder().encode(text);

test("lines, kinds and ids are read; comments are not events", async () => {
  const events = await eventsOf(bytes(": hello\n\nid: 17\ndata: Done (1 s)!\n\nevent: revoked\ndata:\n\n"));
  assert.deepEqual(events, [
    { event: "", data: "Done (1 s)!", id: "17" },
    { event: "revoked", data: "", id: "" },
  ]);
});

test("an event and a character may be cut anywhere between two chunks", async () => {
  const whole = bytes("data: größer\ndata: zwei\n\n");
  for (let at = 1; at < whole.length; at++) {
    assert.deepEqual(await eventsOf(whole.subarray(0, at), whole.subarray(at)), [
      { event: "", data: "größer\nzwei", id: "" },
    ]);
  }
});

test("an event that never ends is none", async () => {
  assert.deepEqual(await eventsOf(bytes("data: whole\n\ndata: half")), [
    { event: "", data: "whole", id: "" },
  ]);
});
