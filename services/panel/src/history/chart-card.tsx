import { Card, Muted } from "../ui/layout.tsx";
import { useWords } from "../words/words.ts";
import { type Band, type Span, summaryOf } from "./chart.ts";
import { type Line, LineChart } from "./line-chart.tsx";

type ChartCardProps = {
  title: string;
  span: Span;
  /** The last one has the largest values. */
  lines: readonly Line[];
  format: (value: number) => string;
  /** What to know when nothing was measured. */
  help: string;
  isBytes?: boolean;
  isWhole?: boolean;
  /** Whole things at a time, such as players, of which each value is an average of some minutes. */
  isMean?: boolean;
  shaded?: readonly Band<unknown>[];
};

/** One chart with its summary in words; without a value it says why. */
export function ChartCard({ title, help, isMean = false, ...chart }: ChartCardProps) {
  const { history } = useWords();
  const { lines, format } = chart;
  const first = summaryOf(lines[0]?.values ?? []);
  const most = summaryOf(lines.at(-1)?.values ?? [])?.most;
  if (first?.last === undefined || most === undefined)
    return (
      <Card title={title}>
        <Muted>{help}</Muted>
      </Card>
    );
  const inWords = isMean ? history.meanSummary : history.summary;
  const summary = inWords(format(first.last), format(most));
  return (
    <Card title={title}>
      <Muted>{summary}</Muted>
      <LineChart {...chart} label={history.chart(title, summary)} />
    </Card>
  );
}
