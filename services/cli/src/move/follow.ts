import type { migrations } from "@svc/proto";
import { poll } from "../backup/with-mesh.ts";

type Move = migrations.WorldMigration;
type Following = { read: () => Promise<Move>; say: (text: string) => void };

/** Says each state of a move until it has ended. Fails it when another one has taken its place. */
export function followMove(move: Move, { read, say }: Following): Promise<Move> {
  let printed = "";
  return poll(async () => {
    const now = await read();
    if (now.id !== move.id) return { ...move, state: "failed" as const, error: "another move has begun" };
    if (now.state === "succeeded" || now.state === "failed") return now;
    if (now.state !== printed) say(now.state);
    printed = now.state;
    return undefined;
  });
}
