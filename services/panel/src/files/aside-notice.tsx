import { useOperation } from "../api/query.ts";
import { SetAside } from "../server/safe-start.tsx";
import { Card, Stack } from "../ui/layout.tsx";
import { useWords } from "../words/words.ts";

/** The folder that safe starts make (docs/reference/crashes.md#safe-start). */
const asideFolder = ".svc";

/** What safe starts have set aside, where it is; nothing in any other folder. */
export function AsideNotice({ name, folder }: { name: string; folder: string }) {
  const { crashes } = useWords();
  const isThere = folder === asideFolder || folder.startsWith(`${asideFolder}/`);
  const { data } = useOperation("setAsides.read", { name }, { enabled: isThere, isCostly: true });
  if (!isThere || !data || data.sets.length === 0) return null;
  return (
    <Card title={crashes.setAsideTitle}>
      <Stack>
        {data.sets.map((set) => (
          <SetAside key={set.id} name={name} set={set} />
        ))}
      </Stack>
    </Card>
  );
}
