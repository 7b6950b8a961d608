import { useAccess } from "../access/use-access.ts";
import { useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Muted } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { faultWords } from "../words/faults.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { ChangedFiles } from "./changed-files.tsx";
import { totalOf } from "./file-changes.ts";
import { changeWords, mayPlan, type Plan, planSentence } from "./restore-changes.ts";

type RestorePlanProps = {
  name: string;
  backupId: string;
  /** Entries to put back; the whole world when absent. */
  only: readonly string[] | undefined;
};

/** What a restore would change. It can be restored without this being known. */
export function RestorePlan({ name, backupId, only }: RestorePlanProps) {
  const words = useWords();
  const { plan: planWords } = words.backups;
  const isShown = mayPlan(useAccess(), only);
  const plan = useOperation(
    "restorePlans.plan",
    { name, backup_id: backupId, ...(only && { only: [...only] }) },
    { isCostly: true, enabled: isShown },
  );
  if (!isShown) return <Muted>{planWords.notIncluded}</Muted>;
  // What was read before may be about another world by now.
  if (plan.isFetching) return <p role="status">{planWords.loading}</p>;
  if (plan.error)
    return (
      <Notice
        kind="waiting"
        isAlert
        actions={<Button onPress={() => void plan.refetch()}>{words.shell.retry}</Button>}
      >
        {planWords.unknown} {faultWords(words, plan.error)}
      </Notice>
    );
  return plan.data ? <Changes plan={plan.data} /> : null;
}

function Changes({ plan }: { plan: Plan }) {
  const words = useWords();
  const { plan: planWords } = words.backups;
  const { language } = useLanguage();
  const { files, may_be_same, same } = plan;
  return (
    <div>
      <p role="status">{planSentence(words, plan, language)}</p>
      {totalOf(plan) > 0 && <Muted>{planWords.same(same)}</Muted>}
      {may_be_same > 0 && <Muted>{planWords.someMayBeSame(may_be_same)}</Muted>}
      {files.length > 0 && (
        <Disclosure summary={planWords.show}>
          <ChangedFiles
            label={planWords.list}
            found={plan}
            say={(file) => changeWords(words, file, language)}
          />
        </Disclosure>
      )}
    </div>
  );
}
