import { useOperation } from "../api/query.ts";
import { Failure } from "../ui/failure.tsx";
import { Card, Facts } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { formatBytes } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";

const mib = 1_024 ** 2;
const gib = 1_024 ** 3;

/** What the caller's servers use of what the account may own. */
export function Quota() {
  const { account } = useWords();
  const { language } = useLanguage();
  const { data, error, refetch } = useOperation("ownership.readMyQuota", {});
  const bytes = (value: number) => formatBytes(value, language);
  const row = (name: string, format: (value: number) => string, [used, limit]: [number, number | null]) =>
    [
      name,
      limit === null ? account.unlimited(format(used)) : account.used(format(used), format(limit)),
    ] as const;
  if (!data)
    return (
      <Card title={account.quota}>
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
      </Card>
    );
  const { limits, used } = data;
  return (
    <Card title={account.quota}>
      <Facts
        rows={[
          row(account.quotaServers, String, [used.servers, limits.max_servers]),
          row(account.quotaCpu, (milli) => account.cores(milli / 1_000), [
            used.cpu_milli,
            limits.max_cpu_milli,
          ]),
          row(account.quotaMemory, (mb) => bytes(mb * mib), [used.memory_mb, limits.max_memory_mb]),
          row(account.quotaStorage, bytes, [
            used.storage_mb * mib,
            limits.max_storage_gb === null ? null : limits.max_storage_gb * gib,
          ]),
        ]}
      />
    </Card>
  );
}
