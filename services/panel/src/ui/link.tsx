import { Link as RouterLink } from "@tanstack/react-router";
import type { ReactNode } from "react";
import button from "./button.module.css";
import { classes } from "./css.ts";

type LinkProps = {
  /** A path of the panel. */
  to: string;
  /** The part of the address behind `?`. */
  search?: Readonly<Record<string, string>>;
  children: ReactNode;
  className?: string | undefined;
  /** Looks like a button: it leads to where something is made or done. */
  looks?: "button" | "primary";
  /** Marks the page that is open; `exact` leaves pages below it out. */
  marksCurrent?: "exact" | "below";
  onPress?: () => void;
};

/** A link to another page of the panel. */
export function Link({ to, search, children, className, looks, marksCurrent, onPress }: LinkProps) {
  const look = looks && classes(button.button, looks === "primary" && button.primary);
  return (
    <RouterLink
      to={to}
      className={classes(look, className)}
      activeOptions={{ exact: marksCurrent !== "below", includeSearch: false }}
      {...(marksCurrent === undefined && { activeProps: {} })}
      {...(search && { search })}
      {...(onPress && { onClick: onPress })}
    >
      {children}
    </RouterLink>
  );
}
