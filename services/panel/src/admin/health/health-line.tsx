import { poll, useOperation } from "../../api/query.ts";
import { Link } from "../../ui/link.tsx";
import { Notice } from "../../ui/notice.tsx";
import { useHealthWords } from "../../words/health-words.ts";
import { decideHealth, noticeOfHealth } from "./alert-view.ts";
import { HealthSentence } from "./health-sentence.tsx";

/** The platform's health in one sentence that leads to its page. */
export function HealthLine() {
  const { alerts, platformHealth } = useHealthWords();
  const { data, error } = useOperation("alerts.readAlerts", {}, { every: poll.history });
  if (!data && !error) return null;
  const health = data && decideHealth(data);
  return (
    <Notice
      kind={health ? noticeOfHealth[health.state] : "waiting"}
      actions={<Link to="/admin/health">{platformHealth.details}</Link>}
    >
      {health ? <HealthSentence health={health} /> : alerts.unreadable}
    </Notice>
  );
}
