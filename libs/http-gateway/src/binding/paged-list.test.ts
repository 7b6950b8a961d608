import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";
import { cutPage } from "./paged-list.ts";

let fixture: GatewayFixture;
let face: RunningFace;

before(async () => {
  fixture = await startGatewayFixture();
  face = await fixture.startFace();
});
after(() => fixture.close());

describe("paged lists", () => {
  test("pages are joined in order, under the name of the contract", async () => {
    const pages: Record<string, { items: { name: string; size: number }[]; next?: string }> = {
      "": { items: [{ name: '],"next":"x"}', size: 1 }], next: 'a"b\\' },
      'a"b\\': { items: [], next: "c" },
      c: {
        items: [
          { name: "ü", size: 2 },
          { name: "last", size: 3 },
        ],
      },
    };
    fixture.owner.serve(contracts.collected, (_context, { cursor }) => pages[cursor ?? ""] ?? { items: [] });
    const answer = await send(face.port, { path: "/collected" });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json(), {
      things: [
        { name: '],"next":"x"}', size: 1 },
        { name: "ü", size: 2 },
        { name: "last", size: 3 },
      ],
    });
  });
  test("HTTP callers cannot pass the cursor", async () => {
    assert.equal((await send(face.port, { path: "/collected?cursor=c" })).status, 400);
  });
  const cuts: [string, string, string | undefined][] = [
    ['{"items":[]}', "", undefined],
    ['{"items":[1,2],"next":"n"}', "1,2", "n"],
    ['{"items":[{"a":[],"next":"x"}]}', '{"a":[],"next":"x"}', undefined],
    ['{"items":[{"a":[],"next":"x"}],"next":"y"}', '{"a":[],"next":"x"}', "y"],
    ['{"next":"y","items":[1]}', "1", "y"],
    ['{"items":["],\\"next\\":\\"z\\"}"]}', '"],\\"next\\":\\"z\\"}"', undefined],
  ];
  for (const [body, items, next] of cuts) {
    test(`the page ${body} has the items ${items}`, () => {
      const page = cutPage(Buffer.from(body));
      assert.equal(page.items.toString(), items);
      assert.equal(page.next, next);
    });
  }
});
