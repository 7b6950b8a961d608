// One SMTP connection as commands and replies (RFC 5321 4.2). The size of replies is bounded.

import type { Socket } from "node:net";

export type Reply = { code: number; lines: readonly string[] };

export type Line = {
  /** The next reply; rejects with the reason when there is none. */
  reply: () => Promise<Reply>;
  command: (text: string) => Promise<Reply>;
  write: (bytes: Buffer) => void;
  /** Releases the socket for TLS. Throws when the relay sent data already, which would be taken as secured. */
  release: () => Socket;
};

const replyLimitBytes = 64 * 1024;
const waitingLimit = 100;

export function createSmtpConnection(socket: Socket, stepMs: number): Line {
  const replies: Reply[] = [];
  const waiting: PromiseWithResolvers<Reply>[] = [];
  // Joined once per line, so that small chunks cost no quadratic work.
  let rest: string[] = [];
  let said = 0;
  let lines: string[] = [];
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    socket.destroy();
    for (const one of waiting.splice(0)) one.reject(failure);
  };
  const take = (reply: Reply) => {
    const first = waiting.shift();
    if (first) first.resolve(reply);
    else replies.push(reply);
  };
  const onLine = (line: string) => {
    const [, code, more, text = ""] = /^(\d{3})(-?) ?(.*)$/.exec(line) ?? [];
    if (code === undefined) return fail(new Error("the relay does not speak SMTP"));
    lines.push(text);
    if (more === "-") return;
    take({ code: Number(code), lines });
    lines = [];
    said = 0;
  };
  const onData = (chunk: Buffer) => {
    const text = chunk.toString("latin1");
    said += text.length;
    rest.push(text);
    if (said > replyLimitBytes || replies.length > waitingLimit)
      return fail(new Error("the relay sent too much"));
    if (!text.includes("\n")) return;
    const parts = rest.join("").split("\n");
    rest = [parts.pop() ?? ""];
    for (const part of parts) onLine(part.replace(/\r$/, ""));
  };
  const onTimeout = () => fail(new Error(`the relay sent nothing for ${stepMs} ms`));
  const onClose = () => fail(new Error("the relay closed the connection"));
  socket.setTimeout(stepMs);
  socket.on("data", onData).on("timeout", onTimeout).on("error", fail).on("close", onClose);
  const reply: Line["reply"] = async () => {
    const ready = replies.shift();
    if (ready) return ready;
    if (failure) throw failure;
    const next = Promise.withResolvers<Reply>();
    waiting.push(next);
    return next.promise;
  };
  return {
    reply,
    command: (text) => {
      if (/[\r\n]/.test(text)) throw new Error("a command is one line");
      if (failure === undefined) socket.write(`${text}\r\n`);
      return reply();
    },
    write: (bytes) => void socket.write(bytes),
    release: () => {
      if (failure) throw failure;
      if (rest.join("") !== "" || lines.length > 0 || replies.length > 0)
        throw new Error("the relay sent data before TLS");
      socket.off("data", onData).off("timeout", onTimeout).off("error", fail).off("close", onClose);
      return socket;
    },
  };
}
