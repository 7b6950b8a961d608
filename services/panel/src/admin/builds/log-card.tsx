import { useMemo, useState } from "react";
import type { LogLine } from "../../server/console/log-buffer.ts";
import { markMatches, styleText } from "../../server/console/styled-text.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Grow, Muted, Row } from "../../ui/layout.tsx";
import { LogView } from "../../ui/log-view.tsx";
import { saveText } from "../../ui/save-text.ts";
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
            label={builds.step}
            value={view.step}
            onChange={(step) => setView({ ...view, step })}
            options={[
              ["all", builds.allSteps],
              ...stepNames.map((name) => [name, builds.steps[name]] as const),
            ]}
          />
          <Checkbox
            label={serverConsole.wrap}
            isChecked={view.wraps}
            onChange={(wraps) => setView({ ...view, wraps })}
          />
        </Row>
      </Row>
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
      />
      <Row isSpread>
        <Muted>{state === "open" ? serverConsole.lines(shown.length) : builds.logStates[state]}</Muted>
        <Row>
          <CopyButton text={text} what={builds.log} />
          <Button kind="quiet" onPress={() => saveText(`${id}.log`, text())}>
            {serverConsole.download}
          </Button>
        </Row>
      </Row>
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
