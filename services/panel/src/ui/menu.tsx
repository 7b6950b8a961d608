import { Ellipsis } from "lucide-react";
import {
  MenuTrigger,
  MenuItem as Option,
  Menu as Options,
  Popover,
  Button as Trigger,
} from "react-aria-components";
import button from "./button.module.css";
import { classes } from "./css.ts";
import styles from "./menu.module.css";

export type MenuAction = {
  word: string;
  run: () => void;
  isDanger?: boolean;
};

/** Further actions on one thing, behind one button; `label` names the thing. */
export function Menu({ label, actions }: { label: string; actions: readonly MenuAction[] }) {
  return (
    <MenuTrigger>
      <Trigger className={classes(button.button, styles.trigger)} aria-label={label}>
        <Ellipsis size={18} aria-hidden />
      </Trigger>
      <Popover className={styles.popover} placement="bottom end">
        <Options className={styles.menu} onAction={(key) => actions[Number(key)]?.run()}>
          {actions.map(({ word, isDanger = false }, at) => (
            <Option key={word} id={at} className={classes(styles.option, isDanger && styles.danger)}>
              {word}
            </Option>
          ))}
        </Options>
      </Popover>
    </MenuTrigger>
  );
}
