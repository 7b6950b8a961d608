import { classes } from "./css.ts";
import styles from "./styled-line.module.css";

type StyledSpan = {
  text: string;
  href?: string;
  isMatch?: boolean;
  look: { colour?: string; isBold?: boolean; isItalic?: boolean; isUnderlined?: boolean; isStruck?: boolean };
};

/** A line of text in several looks, with links that open elsewhere and tell nothing. */
export function StyledLine({ spans }: { spans: readonly StyledSpan[] }) {
  return spans.map(({ text, href, look, isMatch = false }, at) => {
    const { colour, isBold, isItalic, isUnderlined, isStruck } = look;
    const name = classes(
      colour && styles[colour],
      isBold && styles.bold,
      isItalic && styles.italic,
      isUnderlined && styles.underlined,
      isStruck && styles.struck,
    );
    const key = `${at}`;
    if (isMatch)
      return (
        <mark key={key} className={classes(styles.match, name)}>
          {text}
        </mark>
      );
    if (href === undefined)
      return (
        <span key={key} className={name}>
          {text}
        </span>
      );
    return (
      <a key={key} href={href} className={name} target="_blank" rel="noopener noreferrer nofollow">
        {text}
      </a>
    );
  });
}

/** Says that lines are missing. */
export function GapLine({ text }: { text: string }) {
  return <span className={styles.gap}>{text}</span>;
}
