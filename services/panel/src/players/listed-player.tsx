import { useState } from "react";
import { ApiError } from "../api/error.ts";
import { Button } from "../ui/button.tsx";
import { ListItem } from "../ui/list.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { isPlayerName } from "./player-names.ts";

type ListedPlayerProps = {
  player: string;
  action: string;
  /** Name of the button for readers. */
  label: (player: string) => string;
  /** What is said once the player is off the list. */
  done: (player: string) => string;
  remove: () => Promise<unknown>;
  restore: () => Promise<unknown>;
  readList: () => Promise<unknown>;
};

/** A player on a list of the game, who is taken off at once; for a moment that can be undone. */
export function ListedPlayer(props: ListedPlayerProps) {
  const { player, action, label, done, remove, restore, readList } = props;
  const words = useWords();
  const toast = useToast();
  const [isRunning, setRunning] = useState(false);
  const attempt = async (change: () => Promise<unknown>): Promise<boolean> => {
    try {
      await change();
      await readList();
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(failedToast(words, error));
      return false;
    }
  };
  const act = async () => {
    setRunning(true);
    const isDone = await attempt(remove);
    setRunning(false);
    const undo = { word: words.players.undo, run: () => void attempt(restore) };
    if (isDone) toast({ kind: "done", text: done(isolate(player)), action: undo });
  };
  return (
    <ListItem
      title={<bdi>{visible(player)}</bdi>}
      {...(isPlayerName(player) && {
        actions: (
          <Button isPending={isRunning} label={label(isolate(player))} onPress={() => void act()}>
            {action}
          </Button>
        ),
      })}
    />
  );
}
