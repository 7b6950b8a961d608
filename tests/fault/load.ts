// Steady load on a stack: 20 requests a second, reads and changes, however long their answers take.

import { randomUUID } from "node:crypto";
import type { RawResponse } from "../security/raw-request.ts";
import type { StackFixture } from "../security/stack-fixture.ts";

export type Outcome = {
  kind: "read" | "change";
  what: string;
  /** When it was sent, by `performance.now()`. */
  sentAt: number;
  ms: number;
  /** 0 when the connection failed. */
  status: number;
};

/** Sends one request and records its outcome. */
type Send = (kind: Outcome["kind"], what: string, ask: () => Promise<RawResponse>) => void;

export type Load = {
  startedAt: number;
  outcomes: Outcome[];
  /** Names and ids that changes of the load used, whatever came of them. */
  users: string[];
  players: string[];
  /** Sends no more and waits for the answers that are due. */
  end: () => Promise<void>;
};

const everyMs = 50;

/** Starts load on the stack; `server` is one that players may join, `more` joins the turn of requests. */
export function startLoad(
  fixture: StackFixture,
  server: string,
  more: readonly ((send: Send) => void)[] = [],
): Load {
  const startedAt = performance.now();
  const outcomes: Outcome[] = [];
  const users: string[] = [];
  const players: string[] = [];
  const open = new Set<Promise<void>>();
  const send: Send = (kind, what, ask) => {
    const sentAt = performance.now();
    const record = (status: number) =>
      void outcomes.push({ kind, what, sentAt, ms: performance.now() - sentAt, status });
    const work = ask()
      .then(
        ({ status }) => record(status),
        () => record(0),
      )
      .finally(() => open.delete(work));
    open.add(work);
  };
  const { asOwner, asProxy } = fixture;
  const requests = [
    () => send("read", "me", () => asOwner({ path: "/api/v1/me" })),
    () => send("read", "fleet", () => asOwner({ path: "/api/v1/fleet" })),
    () => {
      const username = `user-${randomUUID().slice(0, 13)}`;
      users.push(username);
      const json = { username, role: "user" };
      send("change", "create user", () => asOwner({ method: "POST", path: "/api/v1/users", json }));
    },
    () => send("read", "sessions", () => asOwner({ path: "/api/v1/account/sessions" })),
    () => {
      const player = randomUUID();
      players.push(player);
      const path = `/api/v1/internal/servers/${server}/join-event`;
      send("change", "join", () => asProxy({ method: "POST", path, json: { mc_uuid: player } }));
    },
    ...more.map((request) => () => request(send)),
  ];
  let turn = 0;
  const timer = setInterval(() => requests[turn++ % requests.length]?.(), everyMs);
  return {
    startedAt,
    outcomes,
    users,
    players,
    end: async () => {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

/** Whether a request was answered as its caller wished. */
export const isSuccess = ({ status }: Outcome): boolean => status >= 200 && status < 300;
