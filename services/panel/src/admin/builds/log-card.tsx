import { useMemo, useState } from "react";
import type { LogLine } from "../../server/console/log-buffer.ts";
import { markMatches, styleText } from "../../server/console/styled-text.ts";
import { Card } from "../../ui/layout.tsx";
import { LogActions, LogControls } from "../../ui/log-controls.tsx";
import { LogView } from "../../ui/log-view.tsx";
import { Select } from "../../ui/select.tsx";
import { GapLine, StyledLine } from "../../ui/styled-line.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { useWords } from "../../words/words.ts";
import { type StepName, stepNames } from "./build-log.ts";
import { useBuildLog } from "./use-build-log.ts";

type View = { search: string; step: StepName | "all"; wraps: boolean };

/** The log of all steps as it is written; one step alone can be shown. */
export function BuildLog({ id, onStep }: { id: string; onStep: () => void }) {
  const { serverConsole } = useWords();
  const { builds } = usePackWords();
  const { lines, state } = useBuildLog(id, onStep);
  const [view, setView] = useState<View>({ search: "", step: "all", wraps: true });
  const shown = useMemo(() => selectLines(lines, view), [lines, view]);
  const titleOf = ({ group }: LogLine) => builds.steps[stepNames.find((name) => name === group) ?? "build"];
  const textOf = (line: LogLine) => (line.isHeading ? `--- ${titleOf(line)} ---` : line.plain);
  const text = () => shown.map(textOf).join("\n");
  return (
    <Card title={builds.log}>
      <LogControls view={view} setView={setView}>
        <Select
          isInline
          label={builds.step}
          value={view.step}
          onChange={(step) => setView({ ...view, step })}
          options={[
            ["all", builds.allSteps],
            ...stepNames.map((name) => [name, builds.steps[name]] as const),
          ]}
        />
      </LogControls>
      <LogView
        label={builds.log}
        lines={shown}
        idOf={(line) => line.id}
        textOf={textOf}
        draw={(line) => {
          if (line.dropped !== undefined) return <GapLine text={serverConsole.dropped(line.dropped)} />;
          if (line.isHeading) return <strong>{titleOf(line)}</strong>;
          return <StyledLine spans={markMatches(styleText(line.raw), view.search)} />;
        }}
        wraps={view.wraps}
        newerWords={serverConsole.newLines}
        emptyWords={lines.length > 0 ? serverConsole.noMatch : serverConsole.empty}
      />
      <LogActions
        note={state === "open" ? serverConsole.lines(shown.length) : builds.logStates[state]}
        text={text}
        what={builds.log}
        fileName={`${id}.log`}
      />
    </Card>
  );
}

function selectLines(lines: readonly LogLine[], { search, step }: View): readonly LogLine[] {
  if (search === "" && step === "all") return lines;
  const wanted = search.toLowerCase();
  return lines.filter(
    ({ group, plain }) => (step === "all" || group === step) && plain.toLowerCase().includes(wanted),
  );
}
