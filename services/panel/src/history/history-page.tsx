import { useNavigate, useSearch } from "@tanstack/react-router";
import { poll, useOperation } from "../api/query.ts";
import { CrashList } from "../crashes/crash-list.tsx";
import { ServerFrame } from "../server/server-frame.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { formatBytes } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { bandsOf, medianOf, valuesOf } from "./chart.ts";
import { ChartCard } from "./chart-card.tsx";
import { PhaseStrip } from "./phase-strip.tsx";
import { isQuiet, rangeOf, type ServerHistory, spanOf } from "./range.ts";
import { RangeSelect } from "./range-select.tsx";
import { ValueTable } from "./value-table.tsx";

/** What a server did over the last hours or days. */
export function Page() {
  const { history } = useWords();
  return (
    <ServerFrame section={history.title}>
      {({ name, isManaged }) =>
        isManaged ? <History key={name} name={name} /> : <NotFoundPage title={history.title} />
      }
    </ServerFrame>
  );
}

function History({ name }: { name: string }) {
  const { history } = useWords();
  const navigate = useNavigate();
  const range = rangeOf(useSearch({ strict: false }));
  const { data, error, refetch } = useOperation(
    "histories.readServer",
    { name, range },
    { every: poll.history, keepsPrevious: true },
  );
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <Stack>
      <Row isSpread>
        <RangeSelect
          value={range}
          onChange={(next) =>
            void navigate({
              to: `/servers/${name}/history`,
              search: next === "24h" ? {} : { range: next },
              replace: true,
            })
          }
        />
      </Row>
      <CrashList name={name} />
      {isQuiet(data) ? <Empty title={history.none}>{history.noneHelp}</Empty> : <Charts data={data} />}
    </Stack>
  );
}

function Charts({ data }: { data: ServerHistory }) {
  const { history } = useWords();
  const { language } = useLanguage();
  const span = spanOf(data);
  const bands = bandsOf(data.phases, span);
  const asleep = bands.filter(({ phase }) => phase === "Stopped");
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  const bytes = (value: number) => formatBytes(value, language);
  const cores = (milli: number) => number.format(milli / 1_000);
  const wholes = (value: number) => number.format(value);
  const world = valuesOf(data.world_sizes ?? [], span, data.players.length);
  const about = { span, shaded: asleep };
  return (
    <>
      <Card title={history.phases}>
        <Muted>{startsWords(data, history)}</Muted>
        <PhaseStrip label={history.phasesChart} span={span} bands={bands} />
      </Card>
      <ChartCard
        {...about}
        title={history.players}
        lines={[
          { name: history.mean, values: data.players },
          { name: history.most, values: data.players_max },
        ]}
        format={wholes}
        isWhole
        isMean
        help={history.noPlayers}
      />
      <ChartCard
        {...about}
        title={history.memory}
        lines={[{ name: history.memory, values: data.memory_bytes }]}
        format={bytes}
        isBytes
        help={history.notMeasured}
      />
      <ChartCard
        {...about}
        title={history.cpu}
        lines={[{ name: history.cpu, values: data.cpu_milli }]}
        format={cores}
        help={history.notMeasured}
      />
      <ChartCard
        {...about}
        title={history.tps}
        lines={[{ name: history.tps, values: data.tps }]}
        format={wholes}
        help={history.noTps}
      />
      <ChartCard
        {...about}
        title={history.world}
        lines={[{ name: history.world, values: world }]}
        format={bytes}
        isBytes
        help={data.world_sizes ? history.noBackups : history.noStorage}
      />
      <Disclosure summary={history.table}>
        <ValueTable
          label={history.table}
          span={span}
          columns={[
            { name: history.players, values: data.players, format: wholes },
            { name: history.mostPlayers, values: data.players_max, format: wholes },
            { name: history.memory, values: data.memory_bytes, format: bytes },
            { name: history.cpu, values: data.cpu_milli, format: cores },
            { name: history.tps, values: data.tps, format: wholes },
            { name: history.world, values: world, format: bytes },
          ]}
        />
      </Disclosure>
    </>
  );
}

type HistoryWords = ReturnType<typeof useWords>["history"];

function startsWords({ starts }: ServerHistory, words: HistoryWords): string {
  const median = medianOf(starts.map(({ seconds }) => seconds));
  return median === undefined ? words.noStarts : words.starts(starts.length, Math.round(median));
}
