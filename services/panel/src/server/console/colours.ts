// Colours of a log become the tokens of the page, which are readable in both themes.

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

const sections: Readonly<Record<string, string>> = {
  "0": "black",
  "1": "blue",
  "2": "green",
  "3": "cyan",
  "4": "red",
  "5": "magenta",
  "6": "yellow",
  "7": "grey",
  "8": "grey",
  "9": "blue",
  a: "green",
  b: "cyan",
  c: "red",
  d: "magenta",
  e: "yellow",
  f: "white",
};

type Rgb = readonly [red: number, green: number, blue: number];

/** Of a § code, also `x§f§f§5§5§5§5`. */
export function colourOfSection(code: string): string | undefined {
  if (code.length < 13) return sections[code];
  const digits = code.slice(1).replaceAll("§", "");
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  return colourOfRgb([red, green, blue]);
}

/** Of the SGR codes of the first sixteen colours. */
export function colourOfCode(code: number): string | undefined {
  const isForeground = (code >= 30 && code <= 37) || (code >= 90 && code <= 97);
  return isForeground ? names[code % 10] : undefined;
}

/** Of the 256 colours: sixteen with names, a cube of 6 × 6 × 6, and greys. */
export function colourOfIndex(index: number): string {
  if (index < 16) return names[index % 8] ?? "white";
  if (index >= 232) return index < 250 ? "grey" : "white";
  const cube = index - 16;
  return colourOfRgb([Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51]);
}

/** The next one by its hue. */
export function colourOfRgb([red, green, blue]: Rgb): string {
  const most = Math.max(red, green, blue);
  const spread = most - Math.min(red, green, blue);
  if (spread < 40) return most > 200 ? "white" : "grey";
  const hue = hueOf([red, green, blue], spread);
  if (hue < 20 || hue >= 340) return "red";
  if (hue < 70) return "yellow";
  if (hue < 160) return "green";
  if (hue < 200) return "cyan";
  return hue < 255 ? "blue" : "magenta";
}

/** Degrees on the circle of colours. */
function hueOf([red, green, blue]: Rgb, spread: number): number {
  const most = Math.max(red, green, blue);
  if (most === red) return (((green - blue) / spread) * 60 + 360) % 360;
  return most === green ? ((blue - red) / spread) * 60 + 120 : ((red - green) / spread) * 60 + 240;
}
