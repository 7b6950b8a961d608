import { useOperation } from "../api/query.ts";
import { Disclosure, Preformatted } from "../ui/disclosure.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { formatBytes } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";
import type { Crash } from "./current.ts";

/** Exit, time, memory and what the log names, in one line. */
export function CrashFacts({ crash }: { crash: Crash }) {
  const { crashes, start } = useWords();
  const { language } = useLanguage();
  const { exit_code: code, ran_seconds: ran, memory_bytes: memory, memory_limit_bytes: limit } = crash;
  const bytes = (value: number) => formatBytes(value, language);
  const time = ran < 120 ? start.seconds(ran) : start.minutes(Math.round(ran / 60));
  const facts = [
    crash.was_running ? crashes.ran(time) : crashes.failedStart(time),
    ...(code === undefined ? [] : [crashes.exitCode(code)]),
    ...(memory === undefined
      ? []
      : [
          limit === undefined ? crashes.memory(bytes(memory)) : crashes.memoryOf(bytes(memory), bytes(limit)),
        ]),
    ...(crash.tps === undefined ? [] : [crashes.ticks(crash.tps)]),
    ...(crash.behind_ms === undefined
      ? []
      : [crashes.behind(start.seconds(Math.max(1, Math.round(crash.behind_ms / 1_000))))]),
    ...(crash.watchdog ? [crashes.watchdog] : []),
  ];
  return (
    <>
      {facts.join(" · ")}
      {crash.detail !== undefined && (
        <>
          {" · "}
          <bdi>{visible(crash.detail)}</bdi>
        </>
      )}
    </>
  );
}

/** The last lines of its log, read when they are opened. */
export function CrashLines({ name, id }: { name: string; id: string }) {
  const { crashes } = useWords();
  return (
    <Disclosure summary={crashes.lines}>
      <Lines name={name} id={id} />
    </Disclosure>
  );
}

function Lines({ name, id }: { name: string; id: string }) {
  const { crashes } = useWords();
  const { data, error, refetch } = useOperation("crashes.read", { name, id });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  if (data.lines.length === 0) return <Muted>{crashes.noLines}</Muted>;
  return <Preformatted label={crashes.lines}>{data.lines.map(visible).join("\n")}</Preformatted>;
}
