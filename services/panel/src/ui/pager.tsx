import { useWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Muted, Row } from "./layout.tsx";

type Step = { word: string; run: (() => void) | undefined };

/** Where a list stands, and the steps to its other pages, if there are any; a step without a target is disabled. */
export function Pager({ text, back, on }: { text: string; back: Step; on: Step }) {
  const { reasons } = useWords();
  return (
    <Row isSpread>
      <Muted>
        <span role="status">{text}</span>
      </Muted>
      {(back.run || on.run) && (
        <Row>
          {[back, on].map(({ word, run }) => (
            <Button key={word} whyNot={run ? undefined : reasons.noPage} {...(run && { onPress: run })}>
              {word}
            </Button>
          ))}
        </Row>
      )}
    </Row>
  );
}
