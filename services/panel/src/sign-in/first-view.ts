// What the document shows of sign-in while its scripts are on their way: on a slow line they take two seconds more. It is the form
// itself, drawn by the build for each host and language. What somebody does with it meanwhile is kept for the form that stays.

import { host } from "../api/hosts.ts";
import type { Language } from "../words/language.ts";

const viewId = "first-view";
const buttons = "form button";
const field = "input[name=email]";

/** Readers begin at the form that stays; robots, too, find no button that is about to be replaced. */
function frame(content: DocumentFragment): HTMLElement {
  const view = document.createElement("div");
  view.id = viewId;
  view.ariaHidden = "true";
  view.append(content);
  return view;
}

/** Shows it at the address of sign-in. */
export function showFirstView(language: Language): void {
  const root = document.getElementById("root");
  const name = `${host} ${language}`;
  const template = document.querySelector<HTMLTemplateElement>(`template[data-first-view="${name}"]`);
  if (!root || !template || location.pathname !== "/login") return;
  const view = frame(template.content);
  for (const link of view.querySelectorAll("a")) link.port = location.port;
  view.addEventListener("submit", (event) => event.preventDefault());
  view.addEventListener("click", ({ target }) => {
    const pressed = target instanceof Element ? target.closest(buttons) : null;
    if (!pressed) return;
    for (const button of view.querySelectorAll(buttons)) delete (button as HTMLElement).dataset["pressed"];
    (pressed as HTMLElement).dataset["pressed"] = "true";
  });
  root.before(view);
}

/** The address that was typed meanwhile. */
export function typedAddress(): string {
  return document.querySelector<HTMLInputElement>(`#${viewId} ${field}`)?.value.trim() ?? "";
}

/** Gives its place to the page, and the page what it was used for. */
export function endFirstView(): void {
  const view = document.getElementById(viewId);
  if (!view) return;
  const typed = view.querySelector<HTMLInputElement>(field);
  const isTyping = typed !== null && typed === document.activeElement;
  const pressed = [...view.querySelectorAll<HTMLElement>(buttons)].findIndex(
    ({ dataset }) => dataset["pressed"] !== undefined,
  );
  view.remove();
  const form = document.querySelector("#root main");
  if (isTyping) form?.querySelector<HTMLElement>(field)?.focus();
  if (pressed >= 0) form?.querySelectorAll<HTMLElement>(buttons)[pressed]?.click();
}
