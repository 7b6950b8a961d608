import { type ReactNode, useRef } from "react";
import { Button } from "./button.tsx";

type FileChooserProps = {
  children: ReactNode;
  icon?: ReactNode;
  kind?: "plain" | "primary";
  /** Takes a whole folder with what is in it. */
  isFolder?: boolean;
  /** Takes one file. */
  isSingle?: boolean;
  /** Kinds of files that are offered first, as `accept` of HTML. */
  accept?: string;
  /** Name for readers, where the words say too little alone. */
  label?: string;
  /** Why no file can be chosen now. */
  whyNot?: string | undefined;
  onChoose: (files: File[]) => void;
};

/** A button that opens the browser's chooser of files. */
export function FileChooser({
  children,
  icon,
  kind = "plain",
  isFolder = false,
  isSingle = false,
  whyNot,
  accept,
  label,
  onChoose,
}: FileChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple={!isSingle}
        hidden
        tabIndex={-1}
        onChange={(event) => {
          onChoose([...(event.target.files ?? [])]);
          // The same file can be chosen again.
          event.target.value = "";
        }}
        {...(isFolder && { webkitdirectory: "" })}
        {...(accept !== undefined && { accept })}
      />
      <Button
        kind={kind}
        icon={icon}
        whyNot={whyNot}
        {...(label !== undefined && { label })}
        onPress={() => input.current?.click()}
      >
        {children}
      </Button>
    </>
  );
}
