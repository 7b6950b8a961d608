import { poll, useOperation } from "../../api/query.ts";
import { Copied } from "../../ui/copied.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Facts, Muted, Row, Stack } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes, formatClock } from "../../words/format.ts";
import { useHealthWords } from "../../words/health-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import {
  type KindCopies,
  lookOfPass,
  type OffsitePacked,
  type OffsitePass,
  type OffsiteProblem,
  type OffsiteStatus,
  offsiteCommandOf,
  offsiteProblemsOf,
  savedByPacks,
  viewOfCopies,
} from "./offsite-view.ts";

/** The sealed copies in a bucket elsewhere, by kind. */
export function Offsite() {
  const { offsite } = useHealthWords();
  const { data, error, refetch } = useOperation(
    "offsites.readOffsite",
    {},
    { every: (status) => (status?.last?.state === "running" ? poll.busy : poll.history) },
  );
  return (
    <Card title={offsite.title}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <>
          {offsiteProblemsOf(data).map((problem) => (
            <Problem key={problem} problem={problem} status={data} />
          ))}
          {data.configured && <Copies status={data} />}
        </>
      )}
    </Card>
  );
}

function Problem({ problem, status }: { problem: OffsiteProblem; status: OffsiteStatus }) {
  const { offsite } = useHealthWords();
  const command = offsiteCommandOf[problem];
  const { last, max_age_seconds, damaged = [] } = status;
  const isQuiet = problem === "standby" || problem === "not-configured" || problem === "never";
  return (
    <Notice kind={isQuiet ? "waiting" : "failed"}>
      <strong>{offsite.problems[problem](Math.round(max_age_seconds / 3_600))}</strong>
      {problem === "failed" && last?.error !== undefined && (
        <p>
          <bdi>{visible(last.error)}</bdi>
        </p>
      )}
      {problem === "damaged" && <Keys title={offsite.damaged(damaged.length)} keys={damaged} />}
      <p>{offsite.help[problem]}</p>
      {command !== undefined && <Copied text={command} what={offsite.command} />}
    </Notice>
  );
}

function Copies({ status }: { status: OffsiteStatus }) {
  const { offsite } = useHealthWords();
  const { last, last_completed_at, verified_at, writer, key_id, bucket, store, kinds, packs, wal } = status;
  const whole = last_completed_at === undefined ? offsite.never : <Time at={last_completed_at} />;
  const place = bucket !== undefined && <bdi key="bucket">{visible(bucket)}</bdi>;
  return (
    <>
      {last && <Pass pass={last} />}
      {kinds.map((kind) => (
        <Kind key={kind.kind} name={offsite.kinds[kind.kind]} copies={kind} />
      ))}
      {wal?.copies && <Kind name={offsite.log} copies={wal.copies} />}
      <Facts
        rows={[
          [offsite.lastCompleted, whole],
          ...(wal ? [[offsite.pointInTime, <PointInTime key="wal" wal={wal} />] as const] : []),
          [
            offsite.verified,
            verified_at === undefined ? offsite.notVerified : <Time key="verified" at={verified_at} />,
          ],
          ...(place ? [[offsite.bucket, place] as const] : []),
          ...(writer ? [[offsite.writer, <Writer key="writer" writer={writer} />] as const] : []),
          ...(key_id === undefined
            ? []
            : [[offsite.keyId, <Copied key="key" text={key_id} what={offsite.keyId} />] as const]),
          ...(packs ? [[offsite.packs, offsite.packsAre[packs]] as const] : []),
          ...(store ? [[offsite.protection, offsite.versioning[store.versioning]] as const] : []),
          ...(store?.clock_ahead_seconds === undefined
            ? []
            : [[offsite.clock, offsite.clockAhead(Math.round(store.clock_ahead_seconds / 60))] as const]),
        ]}
      />
    </>
  );
}

function PointInTime({ wal }: { wal: NonNullable<OffsiteStatus["wal"]> }) {
  const { offsite } = useHealthWords();
  const { covered_from, covered_until, stale } = wal;
  if (covered_from === undefined || covered_until === undefined) return offsite.noPointInTime;
  return (
    <Row>
      <span>
        <Time at={covered_from} /> – <Time at={covered_until} />
      </span>
      {stale && <Status look="failed" word={offsite.pointInTimeIsLate} />}
    </Row>
  );
}

function Writer({
  writer: { name, is_this_host, last_run_at },
}: {
  writer: NonNullable<OffsiteStatus["writer"]>;
}) {
  const { offsite } = useHealthWords();
  return (
    <>
      {is_this_host ? offsite.thisInstallation : <bdi>{visible(name)}</bdi>} · <Time at={last_run_at} />
    </>
  );
}

function Pass({ pass }: { pass: OffsitePass }) {
  const { offsite } = useHealthWords();
  const { language } = useLanguage();
  const { state, started_at, finished_at, progress, sent, sent_bytes, failures, failed } = pass;
  return (
    <Stack isTight>
      <Row>
        <Status look={lookOfPass[state]} word={offsite.states[state]} />
        <Time at={finished_at ?? started_at} />
        {sent > 0 && <span>{offsite.sent(sent, formatBytes(sent_bytes, language))}</span>}
      </Row>
      {progress && (
        <>
          <Progress
            label={offsite.kinds[progress.kind]}
            value={progress.bytes_done}
            max={progress.bytes_total}
          />
          <Muted>
            {offsite.kinds[progress.kind]} · {formatBytes(progress.bytes_done, language)} /{" "}
            {formatBytes(progress.bytes_total, language)}
            {progress.eta_seconds !== undefined && ` · ${offsite.left(formatClock(progress.eta_seconds))}`}
          </Muted>
        </>
      )}
      {failures.length > 0 && (
        <Disclosure summary={offsite.failures(failed)}>
          <ul>
            {failures.map(({ key, error }) => (
              <li key={key}>
                <code>{visible(key)}</code> <bdi>{visible(error)}</bdi>
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </Stack>
  );
}

function Kind({ name, copies }: { name: string; copies: KindCopies }) {
  const { offsite } = useHealthWords();
  const { language } = useLanguage();
  const { whole, wanted, look } = viewOfCopies(copies);
  const { missing, missing_count, not_whole, not_whole_count, bytes, packed } = copies;
  return (
    <Stack isTight>
      <Row isSpread>
        <Status look={look} word={name} />
        <span>{offsite.copies(whole, wanted, formatBytes(bytes, language))}</span>
      </Row>
      <Progress label={name} value={whole} max={wanted} />
      {packed && <Packed packed={packed} />}
      <Keys title={offsite.missing(missing_count)} keys={missing} />
      <Keys title={offsite.notWhole(not_whole_count)} keys={not_whole} />
    </Stack>
  );
}

function Packed({ packed }: { packed: OffsitePacked }) {
  const { offsite } = useHealthWords();
  const { language } = useLanguage();
  const size = (bytes: number) => formatBytes(bytes, language);
  const { copies, packs, bytes, whole_bytes } = packed;
  const saved = savedByPacks(packed);
  return (
    <Muted>
      {offsite.inPacks(copies, packs, size(bytes))}{" "}
      {saved > 0 && offsite.savedByPacks(size(saved), size(whole_bytes))}
    </Muted>
  );
}

function Keys({ title, keys }: { title: string; keys: readonly string[] }) {
  if (keys.length === 0) return null;
  return (
    <Disclosure summary={title}>
      <ul>
        {keys.map((key) => (
          <li key={key}>
            <code>{visible(key)}</code>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
