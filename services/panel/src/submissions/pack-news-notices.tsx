import { Suspense, useState } from "react";
import { poll, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { isolate } from "../words/format.ts";
import { usePackWords } from "../words/pack-words.ts";
import { visible } from "../words/visible.ts";
import { markNewsSeen, newsOf, type PackNews, readSeen } from "./pack-news.ts";

/** What became of the person's packs since they looked last. */
export function PackNewsNotices() {
  const { data } = useOperation("submissions.listOwn", { limit: 20, offset: 0 }, { every: poll.history });
  const [seen, setSeen] = useState(readSeen);
  const news = newsOf(data?.submissions ?? [], seen, Date.now());
  if (news.length === 0) return null;
  const dismiss = (one: PackNews) => {
    markNewsSeen(one);
    setSeen(readSeen());
  };
  return (
    <Suspense fallback={null}>
      <Stack isTight>
        {news.map((one) => (
          <PackNotice key={one.key} news={one} dismiss={() => dismiss(one)} />
        ))}
      </Stack>
    </Suspense>
  );
}

const looks = { approved: "info", rejected: "failed", ready: "done", buildFailed: "failed" } as const;

function PackNotice({ news: { kind, name }, dismiss }: { news: PackNews; dismiss: () => void }) {
  const { submissions } = usePackWords();
  const shown = isolate(visible(name));
  return (
    <Notice
      kind={looks[kind]}
      actions={
        <Row>
          <Link to="/submissions" looks="button">
            {submissions.title}
          </Link>
          <Button label={submissions.newsDismissOf(shown)} onPress={dismiss}>
            {submissions.newsDismiss}
          </Button>
        </Row>
      }
    >
      {submissions.news[kind](shown)}
    </Notice>
  );
}
