import { useState } from "react";
import { poll, useOperation } from "../api/query.ts";
import { Disclosure } from "../ui/disclosure.tsx";
import { Failure } from "../ui/failure.tsx";
import { Columns, Row, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { useLanguage, useWords } from "../words/words.ts";
import { ChartCard } from "./chart-card.tsx";
import { type Range, spanOf } from "./range.ts";
import { RangeSelect } from "./range-select.tsx";
import { ValueTable } from "./value-table.tsx";

/** What the whole platform did, for staff. */
export function PlatformHistory() {
  const { history } = useWords();
  const { language } = useLanguage();
  const [range, setRange] = useState<Range>("24h");
  const { data, error, refetch } = useOperation(
    "histories.readPlatform",
    { range },
    { every: poll.history, keepsPrevious: true },
  );
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const span = spanOf(data);
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const format = (value: number) => number.format(value);
  const help = history.none;
  const awake = { name: history.awake, values: data.awake };
  const wakes = { name: history.wakes, values: data.wakes };
  const players = { name: history.mean, values: data.players };
  const most = { name: history.most, values: data.players_max };
  const p50 = { name: history.p50, values: data.start_p50_seconds };
  const p95 = { name: history.p95, values: data.start_p95_seconds };
  return (
    <Stack isTight>
      <Row isSpread>
        <h2>{history.platform}</h2>
        <RangeSelect value={range} onChange={setRange} />
      </Row>
      <Columns isWide>
        <ChartCard title={history.awake} {...{ span, format, help }} lines={[awake]} isWhole isMean />
        <ChartCard
          title={history.players}
          {...{ span, format, help }}
          lines={[players, most]}
          isWhole
          isMean
        />
        <ChartCard title={history.wakes} {...{ span, format, help }} lines={[wakes]} isWhole />
        <ChartCard
          title={history.startSeconds}
          {...{ span, format }}
          help={history.noStarts}
          lines={[p50, p95]}
        />
      </Columns>
      <Disclosure summary={history.table}>
        <ValueTable
          label={history.table}
          span={span}
          columns={[
            awake,
            { ...players, name: history.players },
            { ...most, name: history.mostPlayers },
            wakes,
            p50,
            p95,
          ].map((column) => ({ ...column, format }))}
        />
      </Disclosure>
    </Stack>
  );
}
