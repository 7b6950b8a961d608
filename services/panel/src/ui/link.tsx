import { Link as RouterLink, useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";
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
export function Link({ className, looks, marksCurrent, ...rest }: LinkProps) {
  const look = looks && classes(button.button, looks === "primary" && button.primary);
  const name = classes(look, className);
  if (marksCurrent === undefined) return <PlainLink {...rest} className={name} />;
  const { to, search, children, onPress } = rest;
  return (
    <RouterLink
      to={to}
      className={name}
      activeOptions={{ exact: marksCurrent === "exact", includeSearch: false }}
      {...(search && { search })}
      {...(onPress && { onClick: onPress })}
    >
      {children}
    </RouterLink>
  );
}

type PlainLinkProps = Pick<LinkProps, "to" | "search" | "children" | "onPress"> & { className: string };

/** One that follows no address: those of a list are not drawn again with each key of a search. */
function PlainLink({ to, search = {}, className, children, onPress }: PlainLinkProps) {
  const router = useRouter();
  const { href } = router.buildLocation({ to, search });
  const follow = (event: MouseEvent) => {
    onPress?.();
    const isElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || event.button !== 0 || isElsewhere) return;
    event.preventDefault();
    void router.navigate({ to, search });
  };
  return (
    <a href={href} className={className} onClick={follow}>
      {children}
    </a>
  );
}
