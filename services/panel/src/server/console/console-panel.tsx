import { useMemo, useState } from "react";
import { poll, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Grow, Muted, Row } from "../../ui/layout.tsx";
import { LogView } from "../../ui/log-view.tsx";
import { saveText } from "../../ui/save-text.ts";
import { Select } from "../../ui/select.tsx";
import { GapLine, StyledLine } from "../../ui/styled-line.tsx";
import { useWords } from "../../words/words.ts";
import { CommandBox } from "./command-box.tsx";
import type { LogLine } from "./log-buffer.ts";
import { type Level, levels, lowestRank, markMatches, styleText } from "./styled-text.ts";
import { useConsole } from "./use-console.ts";

/** The log of a server as it is written, and the line for commands. */
export function ConsolePanel({ name, isRunning }: { name: string; isRunning: boolean }) {
  const { serverConsole } = useWords();
  const { buffer, lines, state } = useConsole(name, isRunning);
  const players = useOperation("consoles.listPlayers", { name }, { every: poll.status, enabled: isRunning });
  const [view, setView] = useState<View>({ search: "", level: "all", wraps: true });
  const shown = useMemo(() => selectLines(lines, view.search, view.level), [lines, view.search, view.level]);
  const notes = {
    connecting: serverConsole.connecting,
    broken: serverConsole.reconnecting,
    ended: serverConsole.ended,
    asleep: serverConsole.asleep,
    open: serverConsole.lines(shown.length),
  };
  const text = () => shown.map(({ plain }) => plain).join("\n");
  if (lines.length === 0 && state === "asleep")
    return (
      <Card title={serverConsole.title}>
        <Empty title={serverConsole.asleep} />
      </Card>
    );
  return (
    <Card title={serverConsole.title}>
      <ViewControls view={view} setView={setView} />
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
      />
      <CommandBox
        name={name}
        players={players.data?.players ?? []}
        onReply={(reply) => {
          for (const line of reply.split("\n").filter(Boolean)) buffer.append(0, `> ${line}`);
        }}
      />
      <Row isSpread>
        <Muted>
          <span>{notes[state]}</span>
        </Muted>
        <Row>
          <CopyButton text={text} what={serverConsole.copy} />
          <Button kind="quiet" onPress={() => saveText(`${name}.log`, text())}>
            {serverConsole.download}
          </Button>
        </Row>
      </Row>
    </Card>
  );
}

type View = { search: string; level: Level; wraps: boolean };

function ViewControls({ view, setView }: { view: View; setView: (view: View) => void }) {
  const { serverConsole } = useWords();
  return (
    <Row isSpread isLow>
      <Grow>
        <Field
          label={serverConsole.search}
          name="search-log"
          type="search"
          inputMode="search"
          value={view.search}
          onChange={(search) => setView({ ...view, search })}
        />
      </Grow>
      <Row>
        <Select
          isInline
          label={serverConsole.level}
          value={view.level}
          onChange={(level) => setView({ ...view, level })}
          options={levels.map((level) => [level, serverConsole.levels[level]])}
        />
        <Checkbox
          label={serverConsole.wrap}
          isChecked={view.wraps}
          onChange={(wraps) => setView({ ...view, wraps })}
        />
      </Row>
    </Row>
  );
}

function selectLines(lines: readonly LogLine[], search: string, level: Level): readonly LogLine[] {
  if (search === "" && level === "all") return lines;
  const lowest = lowestRank[level];
  const wanted = search.toLowerCase();
  return lines.filter(({ rank, plain }) => rank >= lowest && plain.toLowerCase().includes(wanted));
}
