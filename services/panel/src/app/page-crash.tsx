import { useEffect, useLayoutEffect } from "react";
import { isPanelServed } from "../api/new-build.ts";
import { hasKeptUploads } from "../files/upload/kept-names.ts";
import { endFirstView } from "../sign-in/first-view.ts";
import { Button } from "../ui/button.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { Page } from "../ui/page.tsx";
import { hasTypedText } from "../ui/typed-text.ts";
import { useFirstWords } from "../words/words.ts";

const reloadedKey = "svc.reloaded";
const everyMs = 5_000;

/**
 * A page that threw. A chunk that could not be fetched, after an update or a break of the line, is fetched by one reload, as soon as
 * the panel is served, but not over an upload or typed text.
 */
export function PageCrash({ message }: { message: string }) {
  const { shell } = useFirstWords();
  useLayoutEffect(endFirstView, []);
  const isMissingChunk = /dynamically imported module|module script/i.test(message);
  useEffect(() => {
    if (!isMissingChunk || sessionStorage.getItem(reloadedKey) === location.href) return;
    const reload = async () => {
      if (hasKeptUploads() || hasTypedText() || !(await isPanelServed())) return;
      sessionStorage.setItem(reloadedKey, location.href);
      location.reload();
    };
    void reload();
    const timer = setInterval(() => void reload(), everyMs);
    return () => clearInterval(timer);
  }, [isMissingChunk]);
  return (
    <Page title={isMissingChunk ? shell.unloaded : shell.crashed}>
      <Muted>{isMissingChunk ? shell.unloadedHelp : shell.crashedHelp}</Muted>
      <Row>
        <Button kind="primary" onPress={() => location.reload()}>
          {shell.reload}
        </Button>
      </Row>
    </Page>
  );
}
