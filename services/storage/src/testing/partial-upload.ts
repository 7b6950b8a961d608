import { type ClientRequest, request } from "node:http";
import { contentDigest, cookie } from "./face-fixture.ts";

/** A PUT that announces all bytes and sends only the first `count`; nothing more comes until the caller ends it. */
export function startPartialUpload(url: string, bytes: Uint8Array, count: number): ClientRequest {
  const sending = request(url, {
    method: "PUT",
    agent: false,
    headers: {
      ...cookie("usr-1"),
      "content-type": "application/octet-stream",
      "content-length": String(bytes.length),
      "content-digest": contentDigest(bytes),
    },
  });
  sending.on("error", () => {});
  sending.write(bytes.subarray(0, count));
  return sending;
}
