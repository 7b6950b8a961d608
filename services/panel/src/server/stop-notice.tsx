import { clockOffsetMs } from "../api/clock.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { useCountdown } from "../ui/countdown.ts";
import { Notice } from "../ui/notice.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { formatClock, isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { useDesired } from "./use-desired.ts";

/** The time that players are given before a stop, and the way back. */
export function StopNotice({ name, stopsAt }: { name: string; stopsAt: string }) {
  const { start } = useWords();
  const left = useCountdown(Date.parse(stopsAt) - clockOffsetMs());
  return (
    <Notice kind="waiting">
      <strong role="timer">{left > 0 ? start.stopsIn(formatClock(left)) : start.stopsNow}</strong>
      <p>{start.stopHelp}</p>
      <WhoPlays name={name} />
    </Notice>
  );
}

/** Cancels a stop while its notice lasts. */
export function PlayOn({ name, isMain = false }: { name: string; isMain?: boolean }) {
  const words = useWords();
  const toast = useToast();
  const wake = useAction("servers.wake");
  const desire = useDesired();
  return (
    <Button
      kind={isMain ? "primary" : "plain"}
      isPending={wake.isPending}
      {...(!isMain && { label: `${words.start.playOn}: ${name}` })}
      onPress={() =>
        wake.mutate(
          { name },
          {
            onSuccess: () => {
              desire(name, "Running");
              toast({ kind: "done", text: words.start.goesOn(isolate(name)) });
            },
            onError: (error) => toast(failedToast(words, error)),
          },
        )
      }
    >
      {words.start.playOn}
    </Button>
  );
}

const namedAtOnce = 12;

/** The names of those who are on; nothing while nobody knows them. */
export function WhoPlays({ name }: { name: string }) {
  const { start } = useWords();
  const { language } = useLanguage();
  const players = useOperation("consoles.listPlayers", { name }).data?.players ?? [];
  if (players.length === 0) return null;
  const shown = players.slice(0, namedAtOnce).map((player) => isolate(visible(player)));
  const more = players.length - shown.length;
  const names = new Intl.ListFormat(language).format(more > 0 ? [...shown, `+${more}`] : shown);
  return <p>{start.on(names)}</p>;
}
