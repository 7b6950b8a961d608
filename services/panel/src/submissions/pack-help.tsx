import { CopyButton } from "../ui/copy-button.tsx";
import { Preformatted } from "../ui/disclosure.tsx";
import { Card, Muted, Row } from "../ui/layout.tsx";
import { usePackWords } from "../words/pack-words.ts";
import { exampleDockerfile } from "./context-file.ts";
import styles from "./submissions.module.css";

/** What a pack must hold, with an example to copy, and how it goes on. */
export function PackHelp() {
  const { submissions } = usePackWords();
  return (
    <>
      <Card title={submissions.helpTitle}>
        <p>{submissions.helpContent}</p>
        <p>{submissions.helpModpack}</p>
        <Row isSpread>
          <strong>{submissions.example}</strong>
          <CopyButton text={exampleDockerfile} what={submissions.example} />
        </Row>
        <Preformatted label={submissions.example}>{exampleDockerfile}</Preformatted>
        <Muted>{submissions.helpBase}</Muted>
        <Muted>{submissions.helpPacking}</Muted>
      </Card>
      <Card title={submissions.stepsTitle}>
        <ol className={styles.steps}>
          {submissions.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </Card>
    </>
  );
}
