import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Only colours of the page, which follow its theme. Pictures from data: addresses are refused, so there are none. */
export const look = EditorView.theme({
  '&': {
    color: 'var(--color-ink)',
    backgroundColor: 'var(--color-raised)',
    border: '1px solid var(--color-line-strong)',
    borderRadius: '8px',
    overflow: 'hidden',
    fontSize: '0.933rem',
  },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '2px' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono)',
    lineHeight: '1.55',
    minHeight: '16rem',
    maxHeight: '62vh',
  },
  '.cm-content': { caretColor: 'var(--color-ink)', paddingBlock: '8px' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-gutters': {
    color: 'var(--color-ink-faint)',
    backgroundColor: 'var(--color-panel)',
    borderRight: '1px solid var(--color-line)',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-activeLineGutter': { color: 'var(--color-ink)', backgroundColor: 'transparent' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--color-accent-soft)',
  },
  '.cm-lintRange': {
    backgroundImage: 'none',
    paddingBottom: '0',
    textDecoration: 'underline wavy 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecorationColor: 'var(--color-bad)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecorationColor: 'var(--color-warn)' },
  '.cm-lintRange-active': { backgroundColor: 'var(--color-warn-soft)' },
  '.cm-tooltip': {
    color: 'var(--color-ink)',
    backgroundColor: 'var(--color-raised)',
    border: '1px solid var(--color-line-strong)',
    borderRadius: '8px',
    overflow: 'hidden',
    maxWidth: 'min(36rem, 92vw)',
  },
  '.cm-diagnostic': { paddingBlock: '6px', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--color-bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--color-warn)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--color-on-accent)',
    backgroundColor: 'var(--color-accent)',
  },
})

/** Keys, quoted texts and comments in colours that are readable in both themes. */
export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.propertyName, color: 'var(--color-accent-strong)' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--color-good)' },
    { tag: tags.comment, color: 'var(--color-ink-soft)', fontStyle: 'italic' },
  ]),
)
