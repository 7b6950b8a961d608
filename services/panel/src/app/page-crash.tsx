import { useEffect } from "react";
import { hasKeptUploads } from "../files/upload/kept-names.ts";
import { Button } from "../ui/button.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { Page } from "../ui/page.tsx";
import { useFirstWords } from "../words/words.ts";

const reloadedKey = "svc.reloaded";

/** A page that threw. A chunk that is gone after an update is fetched by one reload, but not over an upload. */
export function PageCrash({ message }: { message: string }) {
  const { shell } = useFirstWords();
  const isMissingChunk = /dynamically imported module|module script/i.test(message);
  useEffect(() => {
    if (!isMissingChunk || hasKeptUploads() || sessionStorage.getItem(reloadedKey) === location.href) return;
    sessionStorage.setItem(reloadedKey, location.href);
    location.reload();
  }, [isMissingChunk]);
  return (
    <Page title={shell.crashed}>
      <Muted>{shell.crashedHelp}</Muted>
      <Row>
        <Button kind="primary" onPress={() => location.reload()}>
          {shell.reload}
        </Button>
      </Row>
    </Page>
  );
}
