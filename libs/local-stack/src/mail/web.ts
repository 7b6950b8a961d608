import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Mailbox } from "./mailbox.ts";
import { listPage, mailPage } from "./page.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { createServer } = process.getBuiltinModule("node:http");

type Answer = { status: number; type: string; body: string; policy?: string };

const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'";
// The HTML of a mail is untrusted: no scripts, no requests, its own origin.
const mailPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const notFound: Answer = { status: 404, type: "text/plain", body: "There is no such mail.\n" };

async function answer(mailbox: Mailbox, url: URL): Promise<Answer> {
  const [, kind = "", rawId = ""] = url.pathname.split("/");
  if (url.pathname === "/") return html(listPage(await mailbox.list()));
  if (url.pathname === "/messages") {
    const to = url.searchParams.get("to");
    const mails = (await mailbox.list()).filter((mail) => to === null || mail.to.includes(to));
    return { status: 200, type: "application/json", body: JSON.stringify(mails) };
  }
  const id = decodeURIComponent(rawId);
  if (kind === "source") {
    const body = mailbox.findSource(id);
    return body === undefined ? notFound : { status: 200, type: "text/plain", body };
  }
  const mail = await mailbox.find(id);
  if (mail && kind === "mail") return html(mailPage(mail));
  if (mail && kind === "html") return { status: 200, type: "text/html", body: mail.html, policy: mailPolicy };
  return notFound;
}

function html(body: string): Answer {
  return { status: 200, type: "text/html", body, policy: pagePolicy };
}

// Sign-in codes are on this page: a web site that points a name of its own at 127.0.0.1 must not read it.
function isLocalHost(host: string | undefined): boolean {
  const name = (host ?? "").replace(/:\d+$/, "");
  return name === "127.0.0.1" || name === "localhost" || name.endsWith(".localhost");
}

async function respond(mailbox: Mailbox, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let reply: Answer;
  try {
    if (!isLocalHost(request.headers.host))
      reply = { status: 403, type: "text/plain", body: "Open this page as localhost.\n" };
    else if (request.method !== "GET")
      reply = { status: 405, type: "text/plain", body: "Only GET is served here.\n" };
    else reply = await answer(mailbox, new URL(request.url ?? "/", "http://localhost"));
  } catch {
    reply = { status: 400, type: "text/plain", body: "That address can't be read.\n" };
  }
  response.writeHead(reply.status, {
    "content-type": `${reply.type}; charset=utf-8`,
    "content-security-policy": reply.policy ?? "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  response.end(reply.body);
}

/** HTTP server of the mail page; the caller listens and closes. */
export function createMailPage(mailbox: Mailbox): Server {
  return createServer((request, response) => void respond(mailbox, request, response));
}
