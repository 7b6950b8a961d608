import { poll, useOperation } from "../../api/query.ts";
import { Failure } from "../../ui/failure.tsx";
import { Stack } from "../../ui/layout.tsx";
import { ListSection } from "../../ui/list-section.tsx";
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
  const retry = () => void refetch();
  if (!data) return error ? <Failure error={error} retry={retry} /> : <Loading />;
  const { templates, limit } = data;
  return (
    <Stack>
      <Failure error={error} retry={retry} />
      <ListSection
        label={shell.templates}
        about={words.about}
        items={templates}
        none={words.none}
        add={{
          word: words.add,
          whyNot: templates.length >= limit ? words.full(limit) : undefined,
          dialog: (onClose) => <TemplateDialog onClose={onClose} />,
        }}
      >
        {(template) => <TemplateItem key={template.name} template={template} />}
      </ListSection>
    </Stack>
  );
}
