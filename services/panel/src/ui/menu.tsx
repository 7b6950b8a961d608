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
import { Reason } from "./reason.tsx";

export type MenuAction = {
  word: string;
  run: () => void;
  isDanger?: boolean;
};

type MenuProps = {
  /** Its name for readers; `word` is shown as well. */
  label: string;
  word?: string;
  actions: readonly MenuAction[];
  /** Why none of them can be taken now. */
  whyNot?: string | undefined;
};

/** Further actions on one thing, behind one button; `label` names the thing. */
export function Menu({ label, word, actions, whyNot }: MenuProps) {
  return (
    <MenuTrigger>
      <Reason text={whyNot} name={label}>
        <Trigger
          className={classes(button.button, word === undefined && styles.trigger)}
          aria-label={label}
          isDisabled={whyNot !== undefined}
        >
          {word}
          <Ellipsis size={18} aria-hidden />
        </Trigger>
      </Reason>
      <Popover className={styles.popover} placement="bottom end">
        <Options className={styles.menu} onAction={(key) => actions[Number(key)]?.run()}>
          {actions.map(({ word: action, isDanger = false }, at) => (
            <Option key={action} id={at} className={classes(styles.option, isDanger && styles.danger)}>
              {action}
            </Option>
          ))}
        </Options>
      </Popover>
    </MenuTrigger>
  );
}
