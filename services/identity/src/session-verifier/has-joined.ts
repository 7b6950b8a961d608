import type { Handler } from "@svc/mesh";
import { Fault, type sessionVerifier } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { isBarred } from "../link/player-store.ts";
import { toDashed } from "./profile.ts";
import type { Verify } from "./verify.ts";

type Answer = "admitted" | "rejected" | "barred" | "failed";

/** identity.session-verifier.has-joined: null rejects the player, 503 means that a source was unavailable. */
export function createHasJoined(
  { db }: Pick<Deps, "db">,
  verify: Verify,
  count: (answer: Answer) => void,
): Handler<typeof sessionVerifier.hasJoined> {
  return async (context, query) => {
    const verdict = await verify(query, context.signal);
    if (verdict.kind === "failed") {
      count("failed");
      throw context.fault("unavailable");
    }
    if (verdict.kind === "rejected") {
      count("rejected");
      return null;
    }
    const { profile } = verdict;
    const isOut = await isBarred(db, toDashed(profile.id)).catch((cause: unknown) => {
      // Not 503: the proxy would tell the player that the session servers are down.
      throw new Fault("internal", { cause });
    });
    count(isOut ? "barred" : "admitted");
    // A stock proxy reads a refusal as a broken session server, so only a proxy that asks for it gets one.
    if (isOut && query.bars === "told") throw context.fault("player_barred");
    return isOut ? null : profile;
  };
}
