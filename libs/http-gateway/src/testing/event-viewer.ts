// A reader of an event stream of a face.

import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";

type EventViewer = {
  response: IncomingMessage;
  /** All that has come so far. */
  text: () => string;
  ended: Promise<unknown>;
  leave: () => void;
};

type Asked = { port: number; path: string; cookie: string; headers?: Record<string, string> };

/** Opens the stream as the holder of a session; resolves with the head of the answer. */
export async function openEvents({ port, path, cookie, headers }: Asked): Promise<EventViewer> {
  const request = httpRequest({
    ...{ host: "127.0.0.1", port, path, agent: false },
    headers: { cookie: `svc_session=${cookie}`, ...headers },
  });
  request.on("error", () => {});
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  response.on("error", () => {});
  return {
    response,
    text: () => text,
    ended: new Promise((resolve) => response.once("close", resolve)),
    leave: () => request.destroy(),
  };
}
