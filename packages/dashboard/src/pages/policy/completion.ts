import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'

const keys = ['match', 'when', 'tier', 'notify', 'reason', 'floor', 'critical', 'network']
const topKeys = ['version', 'rules', 'limits', 'tests']
const tiers = ['autonomous', 'approval_required', 'blocked']
const effects = ['read', 'write', 'delete']

const plain = (label: string): Completion => ({ label, type: 'keyword' })

/** A group is written in quotes, as is everything with an asterisk. */
const quoted = (label: string): Completion => ({ label, apply: `"${label}"`, type: 'type' })

const groupsOf = (names: readonly string[]): readonly string[] => [
  ...new Set(names.map((name) => `${name.split('.')[0] ?? name}.*`)),
]

/** Words that fit at the end of the line so far, and how much of it is there already. */
function fitting(
  before: string,
  names: readonly string[],
): readonly [readonly Completion[], string] | null {
  const [, key, quote, word] =
    /(?:^|[\s{,-])(match|capability|tier|expect):\s+(["']?)([\w.*-]*)$/.exec(before) ?? []
  const [, effect] = /\beffect:\s+\[?(?:[a-z]+,\s*)*([a-z]*)$/.exec(before) ?? []
  if (effect !== undefined) return [effects.map(plain), effect]
  if (word !== undefined && (key === 'tier' || key === 'expect')) return [tiers.map(plain), word]
  if (word !== undefined) {
    const groups = key === 'match' ? groupsOf(names) : []
    const all = [...names.map(plain), ...groups.map(quote === '' ? quoted : plain)]
    return [all, word]
  }
  const [, started] = /^\s+(?:- )?(?:\{.*[{,]\s*)?([a-z]*)$/.exec(before) ?? []
  if (started !== undefined)
    return [keys.map((name) => ({ ...plain(name), apply: `${name}: ` })), started]
  const [top] = /^[a-z]*$/.exec(before) ?? []
  return top === undefined
    ? null
    : [topKeys.map((name) => ({ ...plain(name), apply: `${name}:` })), top]
}

/** Completes capabilities and groups, tiers, and the keys of a rule. */
export const completePolicy =
  (names: () => readonly string[]) =>
  ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const line = state.doc.lineAt(pos)
    const found = fitting(line.text.slice(0, pos - line.from), names())
    if (!found) return null
    const [options, word] = found
    // A list that nobody asked for comes once there is a letter to go by.
    if (word === '' && !explicit) return null
    // A word that is complete leaves Enter to begin a line.
    const going = options.filter(({ label }) => label.startsWith(word))
    if (going.length === 1 && going[0]?.label === word) return null
    return { from: pos - word.length, options }
  }
