import type { ReactNode } from "react";
import { Button as Pressable } from "react-aria-components";
import styles from "./button.module.css";
import { classes } from "./css.ts";

type ButtonProps = {
  children: ReactNode;
  kind?: "plain" | "primary" | "danger" | "quiet";
  onPress?: () => void;
  type?: "button" | "submit";
  isDisabled?: boolean;
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
    onPress,
    type = "button",
    ...rest
  } = props;
  return (
    <Pressable
      {...rest}
      type={isPending ? "button" : type}
      className={classes(styles.button, kind !== "plain" && styles[kind], isPending && styles.pending)}
      {...(onPress && !isPending && { onPress })}
      {...(label !== undefined && { "aria-label": label })}
    >
      {icon}
      {children}
    </Pressable>
  );
}
