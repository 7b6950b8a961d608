import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Fault, type FaultName, faults } from "@svc/proto";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";

const limits = (Object.keys(faults) as FaultName[]).filter((name) => faults[name].status === 429);

describe("every 429 has Retry-After", () => {
  let fixture: GatewayFixture;
  let face: RunningFace;
  before(async () => {
    fixture = await startGatewayFixture();
    fixture.owner.serve(contracts.write, (_context, { id }) => {
      throw new Fault(id as FaultName);
    });
    fixture.owner.serve(contracts.put, (context, { id }) => {
      const receive = () => Promise.reject(new Fault(id as FaultName));
      context.reply.byteTransfer = fixture.owner.byteTransfers.upload({ receive });
      return null;
    });
    face = await fixture.startFace();
  });
  after(() => fixture.close());

  const ways = { "an owner's answer": "/things", "an owner's byte transfer": "/blobs" };
  for (const [way, place] of Object.entries(ways)) {
    test(`in ${way}, even when the fault has no time`, async () => {
      for (const name of limits) {
        const body = '{"size":1}';
        const headers = { "content-type": "application/json", "content-length": String(body.length) };
        const answer = await send(face.port, { method: "PUT", path: `${place}/${name}`, headers, body });
        assert.equal(answer.status, 429, name);
        assert.ok(Number(answer.headers["retry-after"]) >= 1, name);
      }
    });
  }
});
