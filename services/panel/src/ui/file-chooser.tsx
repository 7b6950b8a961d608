import { type ReactNode, useRef } from "react";
import { Button } from "./button.tsx";

type FileChooserProps = {
  children: ReactNode;
  icon?: ReactNode;
  kind?: "plain" | "primary";
  /** Takes a whole folder with what is in it. */
  isFolder?: boolean;
  onChoose: (files: File[]) => void;
};

/** A button that opens the browser's chooser of files. */
export function FileChooser({
  children,
  icon,
  kind = "plain",
  isFolder = false,
  onChoose,
}: FileChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        tabIndex={-1}
        onChange={(event) => {
          onChoose([...(event.target.files ?? [])]);
          // The same file can be chosen again.
          event.target.value = "";
        }}
        {...(isFolder && { webkitdirectory: "" })}
      />
      <Button kind={kind} icon={icon} onPress={() => input.current?.click()}>
        {children}
      </Button>
    </>
  );
}
