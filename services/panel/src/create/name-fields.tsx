import { rootDomain } from "../api/hosts.ts";
import { Field } from "../ui/field.tsx";
import { useWords } from "../words/words.ts";

type NameFieldsProps = {
  name: string;
  subdomain: string;
  setName: (name: string) => void;
  setSubdomain: (subdomain: string) => void;
  errorOf: (field: string) => string | undefined;
};

/** Name and subdomain of a new server. */
export function NameFields({ name, subdomain, setName, setSubdomain, errorOf }: NameFieldsProps) {
  const { create } = useWords();
  return (
    <>
      <Field
        label={create.name}
        name="name"
        value={name}
        onChange={(typed) => setName(typed.toLowerCase().trim())}
        description={create.nameHelp}
        error={errorOf("name")}
        maxLength={32}
        isRequired
      />
      <Field
        label={create.subdomain}
        name="subdomain"
        value={subdomain}
        onChange={(typed) => setSubdomain(typed.toLowerCase().trim())}
        description={create.subdomainHelp(`${subdomain || "…"}.${rootDomain}`)}
        error={errorOf("subdomain")}
        maxLength={32}
        isRequired
      />
    </>
  );
}
