import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import styles from "./command-palette.module.css";
import dialog from "./dialog.module.css";

type CommandPaletteProps = {
  /** Name of the field and of the dialog. */
  label: string;
  query: string;
  onQuery: (query: string) => void;
  groups: readonly { title: string; commands: readonly { id: string; word: string }[] }[];
  /** Said when there is nothing to offer. */
  none: string;
  onChoose: (id: string) => void;
  onClose: () => void;
};

/** A field that leads anywhere: type, choose with the arrow keys, Enter. */
export function CommandPalette(props: CommandPaletteProps) {
  const { label, query, onQuery, groups, none, onChoose, onClose } = props;
  return (
    <ModalOverlay
      className={`${dialog.scrim} ${styles.scrim}`}
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className={dialog.modal}>
        <Dialog className={styles.palette} aria-label={label}>
          <Autocomplete inputValue={query} onInputChange={onQuery}>
            <SearchField aria-label={label} autoFocus>
              <Input className={styles.input} placeholder={label} />
            </SearchField>
            <Menu
              className={styles.commands}
              aria-label={label}
              onAction={(id) => onChoose(String(id))}
              renderEmptyState={() => <div className={styles.none}>{none}</div>}
            >
              {groups.map(({ title, commands }) => (
                <MenuSection key={title} id={title} aria-label={title}>
                  <Header className={styles.group}>{title}</Header>
                  {commands.map(({ id, word }) => (
                    <MenuItem key={id} id={id} textValue={word} className={styles.command}>
                      <bdi>{word}</bdi>
                    </MenuItem>
                  ))}
                </MenuSection>
              ))}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
