import type { ReactNode } from "react";
import button from "./button.module.css";

type DownloadLinkProps = { href: string; filename: string; icon?: ReactNode; children: ReactNode };

/** Saves what is at an address of the service; the browser shows how far it is. */
export function DownloadLink({ href, filename, icon, children }: DownloadLinkProps) {
  return (
    <a className={button.button} href={href} download={filename}>
      {icon}
      {children}
    </a>
  );
}
