import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Card, Muted, Stack } from "./layout.tsx";
import { Items } from "./list.tsx";
import styles from "./list-section.module.css";

type ListSectionProps<Item> = {
  /** Names the list; the heading of the page says it already. */
  label: string;
  /** What these things are. */
  about: string;
  items: readonly Item[];
  none: string;
  /** Makes another one; left out for who may not. */
  add?: {
    word: string;
    /** Why there can be no more of them now. */
    whyNot: string | undefined;
    dialog: (onClose: () => void) => ReactNode;
  };
  children: (item: Item) => ReactNode;
};

/** Things that people make, change and delete: what they are, the way to another one, and all of them. */
export function ListSection<Item>({ label, about, items, none, add, children }: ListSectionProps<Item>) {
  const [isAdding, setAdding] = useState(false);
  return (
    <Stack>
      <div className={styles.head}>
        <Muted>{about}</Muted>
        {add && (
          <Button kind="primary" whyNot={add.whyNot} onPress={() => setAdding(true)}>
            {add.word}
          </Button>
        )}
      </div>
      <Card>
        <Items label={label} items={items} none={none}>
          {children}
        </Items>
      </Card>
      {isAdding && add?.dialog(() => setAdding(false))}
    </Stack>
  );
}
