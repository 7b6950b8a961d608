import { memo } from "react";
import { Button } from "../../ui/button.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Disclosure, Preformatted } from "../../ui/disclosure.tsx";
import { Facts, Row } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { visible } from "../../words/visible.ts";
import { useWords, type Words } from "../../words/words.ts";
import { actionWords, wordOf } from "./action-words.ts";
import styles from "./audit.module.css";
import { type AuditEntry, type AuditView, payloadText, sourceOf } from "./audit-view.ts";

type AuditEntryItemProps = { entry: AuditEntry; show: (change: Partial<AuditView>) => void };

/** One entry; unfolded it says everything that was written down. */
export const AuditEntryItem = memo(function AuditEntryItem({ entry, show }: AuditEntryItemProps) {
  const words = useWords();
  const { audit } = words;
  const { at, actor, action, server_name: server, actor_user_id: userId } = entry;
  const payload = payloadText(entry.payload);
  return (
    <Disclosure
      summary={
        <span className={styles.summary}>
          <span className={styles.action}>{visible(actionWords(words, action))}</span>
          <bdi className={styles.actor}>{visible(actor)}</bdi>
          <bdi className={styles.server}>{server !== undefined && visible(server)}</bdi>
          <span className={styles.time}>
            <Time at={at} isInside />
          </span>
        </span>
      }
    >
      <Facts rows={factsOf(words, entry)} />
      {payload !== undefined && <Preformatted label={audit.payload}>{payload}</Preformatted>}
      <Row>
        <Button onPress={() => show({ action })}>{audit.onlyAction}</Button>
        <Button onPress={() => show({ actor: userId ?? actor })}>{audit.onlyActor}</Button>
        {userId !== undefined && (
          <Link to={`/admin/users/${userId}`} looks="button">
            {audit.openUser}
          </Link>
        )}
      </Row>
    </Disclosure>
  );
});

function factsOf({ audit }: Words, entry: AuditEntry) {
  const { at, action, source, client_ip: address, user_agent: agent, request_id: request } = entry;
  const { kind, caller } = sourceOf(source);
  const from = wordOf(audit.sources, kind);
  const text = (value: string) => <bdi>{visible(value)}</bdi>;
  const rows = [
    [audit.time, <time key="at">{at}</time>],
    [audit.code, <code key="code">{visible(action)}</code>],
    [audit.source, text(caller === "" ? from : `${from} (${caller})`)],
    [audit.address, address !== undefined && text(address)],
    [audit.device, agent !== undefined && text(agent)],
    [audit.request, request !== undefined && <Copied text={request} what={audit.request} />],
  ] as const;
  return rows.filter(([, value]) => value !== false);
}
