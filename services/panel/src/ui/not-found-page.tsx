import { useFirstWords } from "../words/words.ts";
import { Muted, Row } from "./layout.tsx";
import { Link } from "./link.tsx";
import { Page } from "./page.tsx";

/** Nothing is at this address. */
export function NotFoundPage({ title }: { title?: string }) {
  const { shell } = useFirstWords();
  return (
    <Page title={title ?? shell.notFound}>
      <Muted>{shell.notFoundHelp}</Muted>
      <Row>
        <Link to="/" looks="button">
          {shell.home}
        </Link>
      </Row>
    </Page>
  );
}
