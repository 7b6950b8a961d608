// Somebody without a mouse: the focus moves by Tab, and wherever it stands it has to be seen.

import assert from "node:assert/strict";
import type { Person, Role } from "./person.ts";
import { selectorOf } from "./person.ts";

const mostPresses = 120;

/** Tabs to what has a role and a name, and looks at every stop on the way. */
export async function tabTo({ page }: Person, role: Role, name: string): Promise<void> {
  const wanted = await page.waitForSelector(selectorOf(role, name));
  assert.ok(wanted, `${role} ${name}`);
  for (let presses = 0; presses < mostPresses; presses++) {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(problemOfFocus), "", `on the way to ${role} ${name}`);
    const target = (await page.$(selectorOf(role, name))) ?? wanted;
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  assert.fail(`${mostPresses} presses of Tab do not lead to ${role} ${name}`);
}

/** What is wrong with the place of the focus: nowhere in sight, covered, or without a mark. */
function problemOfFocus(): string {
  const element = document.activeElement;
  if (!(element instanceof HTMLElement) || element === document.body) return "";
  const about = `${element.tagName} ${element.ariaLabel ?? element.textContent?.slice(0, 40)}`;
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const [x, y] = [
    (Math.max(0, left) + Math.min(innerWidth, right)) / 2,
    (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2,
  ];
  if (right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight)
    return `${about} is out of sight`;
  const above = document.elementFromPoint(x, y);
  if (above && !element.contains(above) && !above.contains(element)) return `${about} is covered`;
  const { outlineStyle, boxShadow } = getComputedStyle(element);
  const isMarked = outlineStyle !== "none" || boxShadow !== "none";
  return isMarked || element.shadowRoot ? "" : `${about} has the focus and does not show it`;
}

export async function pressKey({ page }: Person, key: "Enter" | "Escape" | "Tab" | "Space"): Promise<void> {
  await page.keyboard.press(key);
}

/** Tabs to what has a role and a name, and presses it. */
export async function pressByKeys(person: Person, role: Role, name: string): Promise<void> {
  await tabTo(person, role, name);
  await person.page.keyboard.press(role === "checkbox" ? "Space" : "Enter");
}

/** Tabs to a field and types in it. */
export async function typeByKeys(person: Person, name: string, text: string): Promise<void> {
  await tabTo(person, "textbox", name);
  await person.page.keyboard.type(text);
}

/** Holds Ctrl and presses a key. */
export async function pressWithControl(
  { page }: Person,
  key: "KeyK" | "KeyS" | "Home" | "End",
): Promise<void> {
  await page.keyboard.down("Control");
  await page.keyboard.press(key);
  await page.keyboard.up("Control");
}
