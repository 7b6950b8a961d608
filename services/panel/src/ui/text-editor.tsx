// A text editor in a shadow root: there its styles are adopted sheets, which the policy allows.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import { classes } from "./css.ts";
import styles from "./text-editor.module.css";

export type TextLanguage = "json" | "yaml" | "toml" | "properties" | "shell" | "dockerfile" | "plain";

export type TextEditorHandle = {
  text: () => string;
  /** What is there now counts as unchanged. */
  markSaved: () => void;
  /** Puts another text in its place; undo brings the old one back. */
  replace: (text: string) => void;
};

type TextEditorProps = {
  /** Name for readers. */
  label: string;
  /** The first text; later ones come by `replace`. */
  text: string;
  language: TextLanguage;
  /** How lines end; everything else stays in the line as it is. */
  lineBreak: "\n" | "\r\n";
  isReadOnly?: boolean;
  /** Lower than a page of its own: it stands among other things. */
  isLow?: boolean;
  takesFocus?: boolean;
  /** Numbers of lines that differ from another text. */
  marked?: readonly number[];
  /** Words of its search panel, by the English ones. */
  phrases?: Readonly<Record<string, string>>;
  onEdit?: (isChanged: boolean) => void;
  /** Ctrl or ⌘ and S. */
  onSave?: () => void;
  ref?: Ref<TextEditorHandle>;
};

/** Edits one text. */
export function TextEditor({ ref, marked, isLow = false, ...props }: TextEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const saved = useRef<EditorState["doc"]>(null);
  const newest = useRef(props);
  newest.current = props;
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const { text, takesFocus } = newest.current;
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({ doc: text, extensions: extensionsOf(() => newest.current, saved) }),
    });
    saved.current = editor.state.doc;
    view.current = editor;
    if (takesFocus) editor.focus();
    return () => editor.destroy();
  }, []);
  useEffect(() => view.current?.dispatch({ effects: markLines.of(marked ?? []) }), [marked]);
  useImperativeHandle(ref, () => ({
    text: () => view.current?.state.sliceDoc() ?? "",
    markSaved: () => {
      saved.current = view.current?.state.doc ?? null;
      newest.current.onEdit?.(false);
    },
    replace: (text) => {
      const { state } = view.current ?? {};
      if (state)
        view.current?.dispatch({ changes: { from: 0, to: state.doc.length, insert: state.toText(text) } });
    },
  }));
  return <div ref={host} className={classes(styles.editor, isLow && styles.low)} />;
}

type Kept = { current: EditorState["doc"] | null };

function extensionsOf(props: () => TextEditorProps, saved: Kept): Extension[] {
  const { label, language, lineBreak, isReadOnly = false, phrases = {} } = props();
  const save = () => {
    props().onSave?.();
    return true;
  };
  return [
    EditorState.lineSeparator.of(lineBreak),
    EditorState.readOnly.of(isReadOnly),
    EditorState.phrases.of({ ...phrases }),
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-readonly": String(isReadOnly),
      tabindex: "0",
    }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) props().onEdit?.(saved.current === null || !state.doc.eq(saved.current));
    }),
    keymap.of([{ key: "Mod-s", run: save, preventDefault: true }]),
    keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
    lineNumbers(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    bracketMatching(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    syntaxHighlighting(colours),
    look,
    markedLines,
    languageOf(language),
  ];
}

function languageOf(language: TextLanguage): Extension {
  if (language === "json") return json();
  if (language === "yaml") return yaml();
  const modes = { toml, properties, shell, dockerfile: dockerFile } as const;
  return language === "plain" ? [] : StreamLanguage.define(modes[language]);
}

const markLines = StateEffect.define<readonly number[]>();
const differs = Decoration.line({ class: "cm-differs" });

const markedLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (set, { changes, effects, state }) => {
    const marks = effects.find((effect) => effect.is(markLines));
    if (!marks) return set.map(changes);
    const builder = new RangeSetBuilder<Decoration>();
    for (const line of marks.value as readonly number[]) {
      if (line > state.doc.lines) break;
      const { from } = state.doc.line(line);
      builder.add(from, from, differs);
    }
    return builder.finish();
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Tokens of both themes for the colours that the library has for a light page. */
const tokens: Readonly<Record<string, string>> = {
  "#708": "var(--retiring)",
  "#219": "var(--accent)",
  "#164": "var(--running)",
  "#a11": "var(--running)",
  "#e40": "var(--failed)",
  "#940": "var(--muted)",
  "#f00": "var(--failed)",
  "#404740": "var(--muted)",
};
const colours = HighlightStyle.define(
  defaultHighlightStyle.specs.map((spec) =>
    typeof spec["color"] === "string" ? { ...spec, color: tokens[spec["color"]] ?? "var(--accent)" } : spec,
  ),
);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--bg)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "13px", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    color: "var(--muted)",
    backgroundColor: "var(--surface)",
    borderRight: "1px solid var(--divider)",
  },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--sunken) 60%, transparent)",
  },
  ".cm-differs": { backgroundColor: "color-mix(in srgb, var(--starting) 18%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--starting) 30%, transparent)" },
  ".cm-specialChar": { color: "var(--failed)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--surface)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--divider)" },
  ".cm-panel.cm-search": { fontFamily: "var(--font)", padding: "8px", fontSize: "13px" },
  ".cm-textfield": {
    color: "var(--text)",
    backgroundColor: "var(--bg)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
  },
  ".cm-button": {
    color: "var(--text)",
    backgroundColor: "var(--bg)",
    backgroundImage: "none",
    border: "1px solid var(--line)",
    borderRadius: "4px",
  },
});
