// Ends transfers when their server gets another owner or is no longer shared: at the event, and by a recheck every minute, since an event may be
// missed. The gateway watches the session.

import type { Mesh } from "@svc/mesh";
import { eventFilter, Fault, members, ownership, worlds } from "@svc/proto";
import { findWorld, type WorldServer } from "../job/world.ts";
import type { Background } from "./background.ts";

type Watched = Disposable & {
  /** Aborts with `forbidden` when the caller may no longer access this world. */
  readonly signal: AbortSignal;
};

export type WorldRights = {
  /** Watches until disposed of; `may` gets the current state of the server. */
  watch: (server: string, may: (world: WorldServer) => boolean) => Watched;
  close: () => void;
};

type Needs = { mesh: Pick<Mesh, "call" | "listen">; background: Background; recheckMs: number };
type Running = { server: string; may: (world: WorldServer) => boolean; ending: AbortController };

const changes = [
  ownership.serverTransferred,
  ownership.serverClaimed,
  worlds.serverReleased,
  members.accessChanged,
];

export function createWorldRights({ mesh, background, recheckMs }: Needs): WorldRights {
  const running = new Set<Running>();
  const recheck = async (server: string) => {
    const theirs = [...running].filter((one) => one.server === server);
    if (theirs.length === 0) return;
    // While lifecycle is unavailable the last answer stands; the next recheck asks again.
    const world = await findWorld({ mesh }, server);
    const refusal = new Fault("forbidden", { message: "Your access to this server has ended." });
    for (const { may, ending } of theirs) if (!world || !may(world)) ending.abort(refusal);
  };
  const ends = changes.map((event) =>
    mesh.listen(eventFilter(event), (subject) => {
      const server = subject.slice(subject.lastIndexOf(".") + 1);
      background.run("recheck rights after a change of who has access", () => recheck(server));
    }),
  );
  background.every("recheck transfer rights", recheckMs, async () => {
    for (const server of new Set([...running].map((one) => one.server))) await recheck(server);
  });
  return {
    watch: (server, may) => {
      const one = { server, may, ending: new AbortController() };
      running.add(one);
      return { signal: one.ending.signal, [Symbol.dispose]: () => void running.delete(one) };
    },
    close: () => {
      for (const end of ends) end();
    },
  };
}
