import { useState } from "react";
import { poll, useAction, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card } from "../../ui/layout.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { useNow } from "../../ui/now.ts";
import { Pager } from "../../ui/pager.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { isolate } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { nameInRegistry } from "./builds-view.ts";
import type { Acceptance } from "./findings.ts";

const pageSize = 20;

/** Findings that do not block, whose decision that was, and until when; nothing when there are none. */
export function AcceptedFindings() {
  const { scan: words, builds } = usePackWords();
  const [offset, setOffset] = useState(0);
  const { data } = useOperation(
    "acceptances.listAcceptances",
    { limit: pageSize, offset },
    { keepsPrevious: true, every: poll.list },
  );
  if (!data || data.total === 0) return null;
  return (
    <Card title={words.accepted}>
      <List label={words.accepted}>
        {data.acceptances.map((acceptance) => (
          <AcceptedFinding key={acceptance.id} acceptance={acceptance} />
        ))}
      </List>
      {data.total > pageSize && (
        <Pager
          text={words.shown(data.acceptances.length, data.total)}
          back={{ word: builds.previous, run: offset > 0 ? () => setOffset(offset - pageSize) : undefined }}
          on={{
            word: builds.next,
            run: offset + pageSize < data.total ? () => setOffset(offset + pageSize) : undefined,
          }}
        />
      )}
    </Card>
  );
}

function AcceptedFinding({ acceptance }: { acceptance: Acceptance }) {
  const { scan: words } = usePackWords();
  const remove = useAction("acceptances.removeAcceptance", ["acceptances.listAcceptances"]);
  const [isAsking, setAsking] = useState(false);
  const now = useNow(30_000);
  const { id, repository, reason, accepted_by, expires_at } = acceptance;
  const [finding, name] = [acceptance.finding_id, acceptance.package].map(visible) as [string, string];
  return (
    <>
      <ListItem
        title={
          <>
            <strong>{finding}</strong> <bdi>{words.acceptedIn(isolate(name))}</bdi>{" "}
            {Date.parse(expires_at) <= now && <Status look="failed" word={words.acceptedExpired} />}
          </>
        }
        details={
          <>
            <div>{visible(reason)}</div>
            <bdi>
              {repository === undefined ? words.acceptedEverywhere : visible(nameInRegistry(repository))}
            </bdi>
            {" · "}
            <bdi>{visible(accepted_by)}</bdi>
            {" · "}
            {words.acceptedUntil} <Time at={expires_at} />
          </>
        }
        actions={
          <Button
            isPending={remove.isPending}
            label={words.acceptedRemoveOf(isolate(finding), isolate(name))}
            onPress={() => setAsking(true)}
          >
            {words.acceptedRemove}
          </Button>
        }
      />
      <Failure error={remove.error} />
      <Confirm
        title={words.acceptedRemoveTitle(isolate(finding))}
        action={words.acceptedRemoveAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ id })}
      >
        <p>{words.acceptedRemoveHelp}</p>
      </Confirm>
    </>
  );
}
