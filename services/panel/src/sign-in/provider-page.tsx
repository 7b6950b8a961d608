import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { call } from "../api/call.ts";
import { meKey } from "../api/session.ts";
import { Row } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { useProviderWords } from "../words/provider-words.ts";
import { nextPath } from "./next-path.ts";
import { forgetVisit, type Return, readReturn } from "./provider-visit.ts";
import { useAttempt } from "./use-attempt.ts";

/** Where a provider sends the browser back to. */
export function Page() {
  const words = useProviderWords();
  const [back] = useState(() => readReturn(location, (key) => sessionStorage.getItem(key)));
  const problem = useFinish(back);
  const isLink = back.kind !== "elsewhere" && back.isLink;
  const failures = {
    answer: problem,
    cancelled: words.cancelled,
    refused: words.refused,
    elsewhere: words.elsewhere,
  };
  const failure = failures[back.kind];
  if (failure === undefined)
    return (
      <PageFrame title={isLink ? words.linking : words.returning} isNarrow isBusy>
        <Loading />
      </PageFrame>
    );
  return (
    <PageFrame title={isLink ? words.failedLinkTitle : words.failedTitle} isNarrow>
      <Notice kind="failed" isAlert>
        {failure}
      </Notice>
      <Row>
        <Link to={isLink ? "/account" : "/login"} looks="button">
          {isLink ? words.toAccount : words.toSignIn}
        </Link>
      </Row>
    </PageFrame>
  );
}

/** Redeems an answer once, and goes on where the person wanted to be. Returns what went wrong, in words. */
function useFinish(back: Return): string | undefined {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { run, problem } = useAttempt();
  const isStarted = useRef(false);
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    forgetVisit(location.search);
    // The code leaves the address, so that no history keeps it.
    history.replaceState(history.state, "", location.pathname);
    if (back.kind !== "answer") return;
    const { isLink, answer } = back;
    const finish = async () => {
      if (isLink) await call("oidc.finishLink", answer);
      else await call("oidc.finish", answer);
    };
    void run(finish).then(async (isDone) => {
      if (!isDone) return;
      // Nothing of another person may be shown again.
      if (isLink) await client.invalidateQueries({ queryKey: ["oidc.listOwn"] });
      else {
        client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== meKey[0] });
        await client.resetQueries({ queryKey: meKey });
      }
      await navigate({ to: isLink ? "/account" : nextPath(back.next), replace: true });
    });
  }, [back, client, navigate, run]);
  return problem;
}
