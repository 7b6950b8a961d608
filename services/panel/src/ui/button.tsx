import type { ReactNode } from "react";
import { Button as Pressable } from "react-aria-components";
import styles from "./button.module.css";
import { classes } from "./css.ts";
import { Reason } from "./reason.tsx";

type ButtonProps = {
  children: ReactNode;
  kind?: "plain" | "primary" | "danger" | "quiet";
  onPress?: () => void;
  type?: "button" | "submit";
  /** For what says itself why it cannot be pressed; everything else has `whyNot`. */
  isDisabled?: boolean;
  /** Why it cannot be pressed now: it is disabled then, and says so. */
  whyNot?: string | undefined;
  /** The request runs: the button keeps its words and takes no second press. */
  isPending?: boolean;
  autoFocus?: boolean;
  /** Name for readers, where the content is an icon or says too little alone. */
  label?: string;
  icon?: ReactNode;
};

/** A button; its words name what happens. While its request runs it keeps the focus and takes no second press. */
export function Button(props: ButtonProps) {
  const {
    children,
    kind = "plain",
    icon,
    label,
    isPending = false,
    isDisabled = false,
    onPress,
    type = "button",
    whyNot,
    ...rest
  } = props;
  const button = (
    <Pressable
      {...rest}
      isDisabled={isDisabled || whyNot !== undefined}
      type={isPending ? "button" : type}
      className={classes(styles.button, kind !== "plain" && styles[kind], isPending && styles.pending)}
      {...(onPress && !isPending && { onPress })}
      {...(label !== undefined && { "aria-label": label })}
    >
      {icon}
      {children}
    </Pressable>
  );
  if (!("whyNot" in props)) return button;
  const name = label ?? (typeof children === "string" ? children : undefined);
  return (
    <Reason text={whyNot} name={name}>
      {button}
    </Reason>
  );
}
