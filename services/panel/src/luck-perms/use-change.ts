import { useState } from "react";
import { call } from "../api/call.ts";
import { ApiError } from "../api/error.ts";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { useWords } from "../words/words.ts";
import { type Change, isApplied, type Rights } from "./rights.ts";

type Target = { name: string; player: string; readRights: () => Promise<Rights | undefined> };

export type RightsChange = {
  isPending: boolean;
  /** What LuckPerms said to a change that it did not make. */
  refusal: string | undefined;
  /** True once the change is seen to be there. */
  run: (change: Change) => Promise<boolean>;
};

/** Changes what a player may do, one thing after the other, and looks whether it was done. */
export function useChange({ name, player, readRights }: Target): RightsChange {
  const words = useWords();
  const toast = useToast();
  const [isPending, setPending] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const run = async (change: Change) => {
    setPending(true);
    setRefusal(undefined);
    try {
      const output = await send(name, player, change);
      const rights = await readRights();
      const isDone = rights !== undefined && isApplied(rights, change);
      if (!isDone) setRefusal(output);
      return isDone;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(failedToast(words, error));
      return false;
    } finally {
      setPending(false);
    }
  };
  return { isPending, refusal, run };
}

async function send(name: string, player: string, change: Change): Promise<string> {
  if (change.kind === "group") {
    const { kind: _, ...what } = change;
    return (await call("consoles.changeGroup", { name, player, ...what })).output;
  }
  const { kind: _, ...what } = change;
  return (await call("consoles.changePermission", { name, player, ...what })).output;
}
