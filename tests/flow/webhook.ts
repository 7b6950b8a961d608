// A webhook by the command line, from a woken server to a receiver of one's own (docs/reference/webhooks.md).

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { verifyWebhook } from "@svc/client/verify";
import { until } from "@svc/local-stack/testing";
import type { Stack } from "./stack.ts";

type Received = { headers: IncomingHttpHeaders; body: string };
export type WebhookReceiver = {
  url: string;
  received: Received[];
  /** For the stack, which otherwise sends nothing to this machine. */
  args: string[];
  stop: () => void;
};

export async function openReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    received.push({ headers: request.headers, body });
    response.end("thanks");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url, received },
    args: ["--set", `ops_watchdog.webhook_inside=["${url}"]`],
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const server = "work";

/** The first request of each delivery: one whose answer was lost, or came too late, is sent again. */
function firstOf({ received }: WebhookReceiver): Received[] {
  const idOf = ({ headers }: Received) => headers["svc-delivery"];
  return received.filter((one, at) => received.findIndex((other) => idOf(other) === idOf(one)) === at);
}

/** The server is there, stopped, and the caller's. */
export async function assertWebhooks(stack: Stack, receiver: WebhookReceiver): Promise<void> {
  const run = async (...args: string[]) => {
    const ran = await stack.svc("webhook", ...args, "--server", server, "--json");
    assert.equal(ran.code, 0, `svc webhook ${args.join(" ")}: ${ran.stderr}`);
    return JSON.parse(ran.stdout);
  };
  const refuse = async (url: string) =>
    (await stack.svc("webhook", "create", "x", "--server", server, "--event", "server.ready", "--url", url))
      .stderr;
  assert.match(await refuse("https://169.254.169.254/latest"), /public internet/);
  assert.match(await refuse("http://example.org/"), /must begin with https/);
  const events = "server.starting,server.ready,server.stopped";
  const { webhook, secret } = await run("create", "chat", "--event", events, "--url", `${receiver.url}/hook`);
  assert.equal(webhook.host, new URL(receiver.url).host);
  assert.equal((await run("test", "chat")).status, 200);
  for (const command of ["wake", "stop"]) {
    // A test before this one may have woken it within the cooldown.
    const isDone = async () => {
      const { code, stderr } = await stack.svc("server", command, server);
      if (code !== 0 && !/cooldown/.test(stderr)) assert.fail(stderr);
      return code === 0;
    };
    await until(isDone, 120_000, `that ${server} takes ${command}`);
    const wanted = command === "wake" ? 3 : 4;
    await until(() => firstOf(receiver).length >= wanted, 120_000, `what ${command} brings`);
  }
  const types = firstOf(receiver).map(({ body }) => JSON.parse(body).type);
  assert.deepEqual(types, ["ping", ...events.split(",")]);
  for (const { headers, body } of receiver.received) {
    const given = { body, timestamp: String(headers["svc-timestamp"]), secret };
    assert.equal(await verifyWebhook({ ...given, signature: String(headers["svc-signature"]) }), true);
  }
  // What was received is written down as delivered only after that.
  const delivered = async () => (await run("deliveries", "chat", "--state", "delivered")).deliveries;
  await until(async () => (await delivered()).length >= types.length, 120_000, "four deliveries");
  const deliveries = await delivered();
  assert.deepEqual([deliveries.length, deliveries[0].response], [types.length, "thanks"]);
  const { id } = deliveries[0];
  const timesReceived = () =>
    receiver.received.filter(({ headers }) => headers["svc-delivery"] === id).length;
  const before = timesReceived();
  await run("redeliver", "chat", id);
  await until(() => timesReceived() > before, 120_000, "the same delivery again");
  assert.notEqual((await run("rotate", "chat")).secret, secret);
  assert.equal((await run("set", "chat", "--off")).enabled, false);
  assert.equal((await run("delete", "chat")).deleted, false);
  assert.equal((await run("delete", webhook.id, "--yes")).deleted, true);
  assert.deepEqual((await run("list")).webhooks, []);
}
