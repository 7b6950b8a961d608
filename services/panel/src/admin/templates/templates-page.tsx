import { useState } from "react";
import { poll, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../../ui/layout.tsx";
import { List } from "../../ui/list.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { useTemplateWords } from "../../words/template-words.ts";
import { useWords } from "../../words/words.ts";
import { TemplateDialog } from "./template-dialog.tsx";
import { TemplateItem } from "./template-item.tsx";

/** Settings under a name, from which servers are made. */
export function Page() {
  const { shell } = useWords();
  return (
    <PageFrame title={shell.templates}>
      <Templates />
    </PageFrame>
  );
}

function Templates() {
  const words = useTemplateWords();
  const { shell } = useWords();
  const { data, error, refetch } = useOperation("serverTemplates.list", {}, { every: poll.list });
  const [isAdding, setAdding] = useState(false);
  const retry = () => void refetch();
  if (!data) return error ? <Failure error={error} retry={retry} /> : <Loading />;
  const { templates, limit } = data;
  return (
    <Stack>
      <Failure error={error} retry={retry} />
      <Row isSpread>
        <Muted>{words.about}</Muted>
        <Button
          kind="primary"
          whyNot={templates.length >= limit ? words.full(limit) : undefined}
          onPress={() => setAdding(true)}
        >
          {words.add}
        </Button>
      </Row>
      <Card title={shell.templates}>
        {templates.length === 0 && <Muted>{words.none}</Muted>}
        {templates.length > 0 && (
          <List label={shell.templates}>
            {templates.map((template) => (
              <TemplateItem key={template.name} template={template} />
            ))}
          </List>
        )}
      </Card>
      {isAdding && <TemplateDialog onClose={() => setAdding(false)} />}
    </Stack>
  );
}
