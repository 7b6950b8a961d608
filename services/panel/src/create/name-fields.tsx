import { useState } from "react";
import { rootDomain } from "../api/hosts.ts";
import { Field } from "../ui/field.tsx";
import { useWords } from "../words/words.ts";

type Names = ReturnType<typeof useNames>;

/** What a new server is called. The subdomain follows the name until somebody types one. */
export function useNames() {
  const [name, setName] = useState("");
  const [ownSubdomain, setSubdomain] = useState<string>();
  const [displayName, setDisplayName] = useState("");
  const subdomain = ownSubdomain ?? name;
  return {
    /** As a creation asks for them. */
    asked: { name, subdomain, ...(displayName !== "" && { displayName }) },
    ...{ name, subdomain, displayName, setName, setSubdomain, setDisplayName },
  };
}

type NameFieldsProps = { names: Names; errorOf: (field: string) => string | undefined };

/** Name, subdomain and displayed name of a new server. */
export function NameFields({ names, errorOf }: NameFieldsProps) {
  const { name, subdomain, displayName, setName, setSubdomain, setDisplayName } = names;
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
      <Field
        label={create.displayName}
        name="display-name"
        value={displayName}
        onChange={setDisplayName}
        description={create.displayNameHelp}
        error={errorOf("displayName")}
        maxLength={64}
      />
    </>
  );
}
