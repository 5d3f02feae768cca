import { commands } from './commands/index.ts'
import type { NextStep } from './next-step.ts'

/** Longer names first: `agent list` is not `agent`. */
const names = commands.map(({ name }) => name).toSorted((a, b) => b.length - a.length)
/** Commands for another node are left as they are: they have its data directory. */
const mention = new RegExp(
  `(?<!\\bon \\S+, run: )\\bgatehouse (${names.join('|')}|--help)(?![\\w-])`,
  'g',
)

/** A text of the error table or of the server, with each command in it as it works here. */
export const asNextStep = (text: string, next: NextStep): string =>
  text.replaceAll(mention, (_all, words: string) => next(words))
