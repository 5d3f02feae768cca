import type { Approval } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'

/** A rule that would have let the last like requests run, and no others that differ from them. */
export type ProposedRule = {
  readonly agent: string
  readonly capability: string
  readonly when: string
  /** The folder that the rule is about; null where it is about one call exactly. */
  readonly folder: string | null
  /** Object of the call, in a line. */
  readonly what: string
  readonly approvals: number
  /** A call that the rule lets run. */
  readonly args: Readonly<Record<string, unknown>>
}

export const likesNeeded = 3
const weekMs = 7 * 86_400_000
const conditionMax = 2_000

type Args = Approval['effective_arguments']

/** Of these, calls that differ in their path may share a folder. What they write there may differ; `same` may not. */
const inFolders: Readonly<Record<string, { readonly same: readonly string[] }>> = {
  'filesystem.append': { same: [] },
  'filesystem.delete': { same: ['recursive'] },
  'filesystem.mkdir': { same: [] },
  'filesystem.write': { same: [] },
}

/** Arguments that often carry credentials, which a policy file must not. */
const oftenSecret = ['environment', 'headers', 'stdin']

const isFilled = (value: unknown): boolean =>
  typeof value === 'string'
    ? value !== ''
    : typeof value === 'object' && value !== null && Object.keys(value).length > 0

const bearsSecrets = (capability: string, args: Args): boolean =>
  oftenSecret.some((name) => isFilled(args[name])) || describeCall(capability, args).includes('***')

/** A literal of CEL. Characters that a line of YAML cannot hold, or that nobody sees, are escaped. */
const literalOf = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) =>
      `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0').toUpperCase()}`,
  )

/** Folders of a path, outermost first; null where the place is not plain from its spelling. */
const foldersOf = (path: unknown): readonly string[] | null => {
  if (typeof path !== 'string') return null
  const parts = path.split('/')
  const [, ...inner] = parts
  return ['.', '..'].some((part) => parts.includes(part)) || inner.includes('')
    ? null
    : parts.slice(0, -1)
}

/** The folder that all paths lie in; null where there is none but the workspace or the root. */
const sharedFolder = (paths: readonly unknown[]): string | null => {
  const all = paths.map(foldersOf)
  const [first] = all
  if (!first) return null
  const differs = first.findIndex((part, at) => all.some((folders) => folders?.[at] !== part))
  const shared = all.includes(null) ? [] : first.slice(0, differs < 0 ? first.length : differs)
  const named = shared.filter((part) => part !== '').length
  // A folder right below the root, such as /home, is no place of the agent.
  return named > (shared[0] === '' ? 1 : 0) ? `${shared.join('/')}/` : null
}

const isSame = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

const folderCondition = (capability: string, all: readonly Args[]) => {
  const [first] = all
  const same = inFolders[capability]?.same
  if (!first || !same) return null
  const folder = sharedFolder(all.map(({ path }) => path))
  if (
    folder === null ||
    !same.every((name) => all.every((args) => isSame(args[name], first[name])))
  )
    return null
  const rest = same.map((name) => `args.${name} == ${literalOf(first[name])}`)
  return { folder, when: [`args.path.startsWith(${literalOf(folder)})`, ...rest].join(' && ') }
}

const decidedWithin =
  (nowMs: number) =>
  ({ decided_at }: Approval): boolean =>
    decided_at !== null && nowMs - Date.parse(decided_at) < weekMs

/** Approved as it was asked for: what a person changed is not what the agent would do. */
const isApprovedAsAsked = ({ status, edit }: Approval): boolean =>
  status === 'approved' && edit === undefined

/**
 * The rule that could take the place of the person's next answer, where the last week shows what that would be:
 * like requests of the agent were approved at least three times, and none was rejected. Null otherwise.
 */
export function proposeRule(
  approval: Approval,
  decided: readonly Approval[],
  nowMs: number,
): ProposedRule | null {
  const { agent, capability, effective_arguments: args } = approval
  const likes = decided
    .filter((one) => one.agent === agent && one.capability === capability)
    .filter(decidedWithin(nowMs))
  // @SECURITY A critical call is decided on each time; propose-rule.test.ts.
  if ([approval, ...likes].some(({ critical }) => critical)) return null
  if (likes.some(({ status }) => status === 'rejected')) return null
  const approved = likes.filter(isApprovedAsAsked).map((one) => one.effective_arguments)
  const identical = approved.filter((one) => isSame(one, args))
  const exact = { folder: null, when: `args == ${literalOf(args)}` }
  const isExact = identical.length >= likesNeeded
  const found = isExact ? exact : folderCondition(capability, [args, ...approved])
  const count = isExact ? identical.length : approved.length
  if (!found || count < likesNeeded || found.when.length > conditionMax) return null
  if (bearsSecrets(capability, args)) return null
  const what = found.folder ?? describeCall(capability, args)
  return { agent, capability, ...found, what, approvals: count, args }
}

/** A text of YAML in single quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The rule as lines of a policy file, without the indent of their list. */
export const ruleLines = (
  { capability, when, approvals }: ProposedRule,
  network: readonly string[],
): readonly string[] => [
  `- match: ${capability}`,
  `  when: ${quoted(when)}`,
  '  tier: autonomous',
  // A program that was approved had this network; without the list it would have none.
  ...(network.length > 0 ? [`  network: ${JSON.stringify(network)}`] : []),
  `  reason: Approved ${approvals} times in a week`,
]

/** A line of JSON is YAML too, where no character in it needs a name. */
const testLine = ({ capability, args }: ProposedRule): string =>
  `- { capability: ${capability}, args: ${literalOf(args)}, expect: autonomous }`

type Block = {
  /** Of its entries. */
  readonly indent: string
  /** Line after the last one of it. */
  readonly end: number
}

const isEntry = (line: string): boolean => /^ *- /.test(line)
const isBlank = (line: string): boolean => /^\s*(#.*)?$/.test(line)

/** Where the list of a key at the top stands; null without the key, and `refused` where it is written in another way. */
const blockOf = (lines: readonly string[], key: string): Block | null | 'refused' => {
  const at = lines.findIndex((line) => line.startsWith(`${key}:`))
  if (at < 0) return null
  if (!/^\w+:\s*(#.*)?$/.test(lines[at] ?? '')) return 'refused'
  const next = lines.findIndex((line, n) => n > at && /^[^\s#-]/.test(line))
  let end = next < 0 ? lines.length : next
  while (end > at + 1 && isBlank(lines[end - 1] ?? '')) end -= 1
  const first = lines.slice(at + 1, end).find((line) => !isBlank(line))
  if (first === undefined || !isEntry(first)) return 'refused'
  return { indent: /^ */.exec(first)?.[0] ?? '', end }
}

const withEntry = (
  lines: readonly string[],
  key: string,
  entry: readonly string[],
  before: number | null,
): readonly string[] | null => {
  const block = blockOf(lines, key)
  if (block === 'refused') return null
  if (block === null) return [...lines, `${key}:`, ...entry.map((line) => `  ${line}`)]
  if (before !== null && !isEntry(lines[before] ?? '')) return null
  return lines.toSpliced(before ?? block.end, 0, ...entry.map((line) => `${block.indent}${line}`))
}

const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`

const linesOf = (text: string | null): readonly string[] =>
  text === null ? ['version: 1'] : text.replace(/\n+$/, '').split('\n')

/** The policy file with entries after its own rules; null where only a person should change it. */
export function withRules(text: string | null, entries: readonly string[]): string | null {
  const ruled = withEntry(linesOf(text), 'rules', entries, null)
  return ruled && textOf(ruled)
}

/**
 * The policy file with the rule in it, and with its test as well: right before the rule that asks now, where that stands in this
 * file, so that all that went before it still does; otherwise after the file's own rules. Null where the file is
 * written in a way that only a person should change.
 */
export function withRule(
  text: string | null,
  rule: ProposedRule,
  {
    network,
    askedAtLine,
  }: { readonly network: readonly string[]; readonly askedAtLine: number | null },
): { readonly untested: string; readonly text: string } | null {
  const lines = linesOf(text)
  const before = askedAtLine === null ? null : askedAtLine - 1
  const ruled = withEntry(lines, 'rules', ruleLines(rule, network), before)
  const tested = ruled && withEntry(ruled, 'tests', [testLine(rule)], null)
  return ruled && tested && { untested: textOf(ruled), text: textOf(tested) }
}
