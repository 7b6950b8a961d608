/** Six digits of a mail, however they were pasted. */
export function mailedCode(typed: string): string {
  return typed.replace(/\D/g, "").slice(0, 6);
}

/** Eight characters from the game: upper case, without spaces and dashes. */
export function gameCode(typed: string): string {
  return typed
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, "")
    .slice(0, 8);
}
