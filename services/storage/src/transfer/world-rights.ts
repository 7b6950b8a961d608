// Transfers end when their server goes to somebody else: at the event, and at the look of every minute, for an event may
// be missed. Who is signed in is watched by the gateway.

import type { Mesh } from "@svc/mesh";
import { eventFilter, Fault, ownership, worlds } from "@svc/proto";
import { findWorld, type WorldServer } from "../job/world.ts";
import type { Background } from "./background.ts";

type Watched = Disposable & {
  /** Aborts with the fault of somebody who may not touch this world any more. */
  readonly signal: AbortSignal;
};

export type WorldRights = {
  /** Watches until disposed of; `may` is asked of the server as it is then. */
  watch: (server: string, may: (world: WorldServer) => boolean) => Watched;
  close: () => void;
};

type Needs = { mesh: Pick<Mesh, "call" | "listen">; background: Background; recheckMs: number };
type Running = { server: string; may: (world: WorldServer) => boolean; ending: AbortController };

const changes = [ownership.serverTransferred, ownership.serverClaimed, worlds.serverReleased];

export function createWorldRights({ mesh, background, recheckMs }: Needs): WorldRights {
  const running = new Set<Running>();
  const recheck = async (server: string) => {
    const theirs = [...running].filter((one) => one.server === server);
    if (theirs.length === 0) return;
    // While lifecycle cannot be asked the last yes stands; the next look asks again.
    const world = await findWorld({ mesh }, server);
    const refusal = new Fault("forbidden", { message: "The server now belongs to another account." });
    for (const { may, ending } of theirs) if (!world || !may(world)) ending.abort(refusal);
  };
  const ends = changes.map((event) =>
    mesh.listen(eventFilter(event), (subject) => {
      const server = subject.slice(subject.lastIndexOf(".") + 1);
      background.run("recheck rights after an owner change", () => recheck(server));
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
