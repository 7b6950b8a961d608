import { useMemo, useState } from "react";
import { Needs } from "../../access/needs.tsx";
import { useAccess } from "../../access/use-access.ts";
import { poll, useOperation } from "../../api/query.ts";
import { Empty } from "../../ui/empty.tsx";
import { Card } from "../../ui/layout.tsx";
import { LogActions, LogControls } from "../../ui/log-controls.tsx";
import { LogView } from "../../ui/log-view.tsx";
import { Select } from "../../ui/select.tsx";
import { GapLine, StyledLine } from "../../ui/styled-line.tsx";
import { useWords } from "../../words/words.ts";
import { CommandBox } from "./command-box.tsx";
import type { LogLine } from "./log-buffer.ts";
import { type Level, levels, lowestRank, markMatches, styleText } from "./styled-text.ts";
import { useConsole } from "./use-console.ts";

type ConsoleProps = {
  name: string;
  /** There is a log, also of a server that starts or whose start failed. */
  isReadable: boolean;
  /** Commands are taken, and who is on is known. */
  isRunning: boolean;
};

/** The log of a server as it is written, and the line for commands. */
export function ConsolePanel({ name, isReadable, isRunning }: ConsoleProps) {
  const { serverConsole } = useWords();
  const { may } = useAccess();
  const isSeen = may("console.read");
  const { buffer, lines, state } = useConsole(name, isReadable && isSeen);
  const isOnKnown = isRunning && may("players");
  const players = useOperation("consoles.listPlayers", { name }, { every: poll.status, enabled: isOnKnown });
  const [view, setView] = useState<View>({ search: "", level: "all", wraps: true });
  const shown = useMemo(() => selectLines(lines, view.search, view.level), [lines, view.search, view.level]);
  const notes = {
    connecting: serverConsole.connecting,
    broken: serverConsole.reconnecting,
    ended: serverConsole.ended,
    asleep: serverConsole.asleep,
    open: serverConsole.lines(shown.length),
  };
  const emptyWords = lines.length === 0 ? serverConsole.empty : serverConsole.noMatch;
  const text = () => shown.map(({ plain }) => plain).join("\n");
  const commands = (
    <Needs rights={["command"]}>
      <CommandBox
        name={name}
        players={players.data?.players ?? []}
        onReply={(reply) => {
          for (const line of reply.split("\n").filter(Boolean)) buffer.append(0, `> ${line}`);
        }}
      />
    </Needs>
  );
  if (!isSeen && lines.length === 0)
    return (
      <Card title={serverConsole.title}>
        <Needs rights={["console.read"]}>{null}</Needs>
        {isRunning && commands}
      </Card>
    );
  if (lines.length === 0 && state === "asleep")
    return (
      <Card title={serverConsole.title}>
        <Empty title={serverConsole.asleep} />
      </Card>
    );
  return (
    <Card title={serverConsole.title}>
      <LogControls view={view} setView={setView}>
        <Select
          isInline
          label={serverConsole.level}
          value={view.level}
          onChange={(level) => setView({ ...view, level })}
          options={levels.map((level) => [level, serverConsole.levels[level]])}
        />
      </LogControls>
      <LogView
        label={serverConsole.log}
        lines={shown}
        idOf={(line) => line.id}
        textOf={(line) => line.plain}
        draw={(line) =>
          line.dropped === undefined ? (
            <StyledLine spans={markMatches(styleText(line.raw), view.search)} />
          ) : (
            <GapLine text={serverConsole.dropped(line.dropped)} />
          )
        }
        wraps={view.wraps}
        newerWords={serverConsole.newLines}
        emptyWords={state === "open" ? emptyWords : notes[state]}
      />
      {commands}
      <LogActions note={notes[state]} text={text} what={serverConsole.copy} fileName={`${name}.log`} />
    </Card>
  );
}

type View = { search: string; level: Level; wraps: boolean };

function selectLines(lines: readonly LogLine[], search: string, level: Level): readonly LogLine[] {
  if (search === "" && level === "all") return lines;
  const lowest = lowestRank[level];
  const wanted = search.toLowerCase();
  return lines.filter(({ rank, plain }) => rank >= lowest && plain.toLowerCase().includes(wanted));
}
