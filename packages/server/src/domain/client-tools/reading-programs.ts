import type { OtherCall, ShellPart } from './shell-part.ts'

/** Calls that a program's arguments come to; null where they could do more than read what they name. */
type Reading = (args: readonly string[], folder: string) => readonly OtherCall[] | null

const at = (folder: string, path: string): string =>
  path.startsWith('/') ? path : `${folder}/${path}`

const read = (path: string): OtherCall => ({ capability: 'filesystem.read', arguments: { path } })
const list = (path: string): OtherCall => ({ capability: 'filesystem.list', arguments: { path } })

/** Policy is asked about the place; what is looked for there is nobody's secret. */
const searchNames = (path: string): OtherCall => ({
  capability: 'filesystem.search',
  arguments: { path, pattern: '*' },
})
const searchContents = (path: string): OtherCall => ({
  capability: 'filesystem.search_content',
  arguments: { path, pattern: '.', regex: true },
})

/** Operands and options of a command line; null where an option is not one of those known to be harmless. */
const split = (
  args: readonly string[],
  { flags, valued }: { readonly flags: RegExp; readonly valued?: RegExp },
): readonly string[] | null => {
  const operands: string[] = []
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] as string
    if (arg === '--') return [...operands, ...args.slice(i + 1)]
    if (!arg.startsWith('-') || arg === '-') operands.push(arg)
    else if (valued?.test(arg)) i += 1
    else if (!flags.test(arg)) return null
  }
  return operands
}

const reading =
  (
    options: { readonly flags: RegExp; readonly valued?: RegExp },
    callOf: (path: string) => OtherCall,
    none: 'folder' | 'input',
  ): Reading =>
  (args, folder) => {
    const operands = split(args, options)
    if (!operands) return null
    if (operands.length === 0) return none === 'folder' ? [callOf(folder)] : []
    return operands.filter((path) => path !== '-').map((path) => callOf(at(folder, path)))
  }

const nothing: Reading = () => []

const grepFlags =
  /^(-[EFGPivwxclLnHhoqsrRabzTSU]+|-[ABCm]\d+|-\d+|--(color|colour)(=\w+)?|--(include|exclude|exclude-dir)=.*|--(recursive|ignore-case|line-number|files-with-matches|count|word-regexp|extended-regexp|fixed-strings|no-filename|with-filename|only-matching|invert-match|hidden|no-heading|files))$/
const grepValued = /^-([ABCmegt]|-glob|-type)$/

/** The first operand is a pattern, unless options give it. */
const grep =
  (unlessTold: 'folder' | 'input'): Reading =>
  (args, folder) => {
    const operands = split(args, { flags: grepFlags, valued: grepValued })
    if (!operands) return null
    const patternTold = args.includes('-e') || args.includes('--files')
    const paths = patternTold ? operands : operands.slice(1)
    const recursive = args.some((arg) => /^-[A-Za-z]*[rR]/.test(arg) || arg === '--recursive')
    if (paths.length === 0)
      return recursive || unlessTold === 'folder' ? [searchContents(folder)] : []
    return paths.filter((path) => path !== '-').map((path) => searchContents(at(folder, path)))
  }

const findTests =
  /^-(name|iname|path|ipath|type|maxdepth|mindepth|size|mtime|mmin|empty|print|print0|not|o|a|and|or|prune)$/
const findValued = /^-(name|iname|path|ipath|type|maxdepth|mindepth|size|mtime|mmin)$/

/** @SECURITY `-exec`, `-delete` and all that is not in the list is more than a search; client-tools.test.ts. */
const find: Reading = (args, folder) => {
  const paths: string[] = []
  let i = 0
  for (; i < args.length && !/^[-(!]/.test(args[i] as string); i += 1)
    paths.push(at(folder, args[i] as string))
  for (; i < args.length; i += 1) {
    const arg = args[i] as string
    if (arg === '(' || arg === ')' || arg === '!') continue
    if (!findTests.test(arg)) return null
    if (findValued.test(arg)) i += 1
  }
  return (paths.length > 0 ? paths : [folder]).map(searchNames)
}

const gitFlags =
  /^(--(short|branch|porcelain(=v\d)?|stat|shortstat|numstat|oneline|graph|all|decorate|cached|staged|name-only|name-status|no-color|no-pager|patch|list|show-current|abbrev-ref|show-toplevel|merges|no-merges|reverse|first-parent|word-diff|untracked-files(=\w+)?|max-count=\d+|since=.*|until=.*|author=.*|pretty=.*|format=.*|date=.*)|-[sbuvpwar]+|-n?\d+)$/
const gitValued = /^-n$/

const gitReads: Readonly<Record<string, string>> = {
  status: 'git.status',
  diff: 'git.diff',
  log: 'git.log',
  show: 'git.show',
}

/** @SECURITY Only what the capability of the name does as well: an option that writes or starts something is none;
 * client-tools.test.ts. */
const git: Reading = (args, folder) => {
  const [place, rest] =
    args[0] === '-C' ? [at(folder, args[1] ?? '.'), args.slice(2)] : [folder, args]
  const words = rest[0] === '--no-pager' ? rest.slice(1) : rest
  const capability = gitReads[words[0] ?? '']
  if (capability === undefined || !Object.hasOwn(gitReads, words[0] ?? '')) return null
  const operands = split(words.slice(1), { flags: gitFlags, valued: gitValued })
  // Of two files of which one is in no repository, `git diff` compares whatever they are.
  if (!operands || operands.some((word) => /^\/|(^|\/)\.\.(\/|$)/.test(word))) return null
  return [{ capability, arguments: { path: place } }]
}

const plainFlags = /^-[A-Za-z0-9]+$/

/** Programs that do nothing but read, with these options. All others are programs like any. */
const programs: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ['pwd', nothing],
  ['true', nothing],
  ['false', nothing],
  [':', nothing],
  ['echo', nothing],
  ['printf', (args) => (args[0] === '-v' ? null : [])],
  ['basename', nothing],
  ['dirname', nothing],
  ['sleep', nothing],
  ['which', nothing],
  ['date', (args) => (args.every((arg) => arg === '-u' || arg.startsWith('+')) ? [] : null)],
  ['cat', reading({ flags: /^-[AbeEnstTuv]+$/ }, read, 'input')],
  ['nl', reading({ flags: /^-[a-z]+$/ }, read, 'input')],
  ['head', reading({ flags: /^-(\d+|[nc]\d+|[qv]+)$/, valued: /^-[nc]$/ }, read, 'input')],
  ['tail', reading({ flags: /^-(\d+|[nc][+]?\d+|[qvf]+)$/, valued: /^-[nc]$/ }, read, 'input')],
  ['wc', reading({ flags: /^-[clmwL]+$/ }, read, 'input')],
  ['stat', reading({ flags: /^-[Lft]+$/, valued: /^-c$/ }, read, 'input')],
  ['file', reading({ flags: /^-[bhikLN]+$/ }, read, 'input')],
  ['cut', reading({ flags: /^-[bcdfs].*$/, valued: /^-[bcdf]$/ }, read, 'input')],
  [
    'diff',
    reading({ flags: /^(-[abBiqruwyN]+|-U\d+|--(unified|brief|recursive))$/ }, read, 'input'),
  ],
  [
    'ls',
    reading(
      { flags: /^(-[A-Za-z1]+|--(all|almost-all|human-readable|color(=\w+)?))$/ },
      list,
      'folder',
    ),
  ],
  ['tree', reading({ flags: /^-[adfFis]+$/, valued: /^-[LIP]$/ }, searchNames, 'folder')],
  ['tr', (args) => (args.every((arg) => !arg.startsWith('-') || plainFlags.test(arg)) ? [] : null)],
  ['grep', grep('input')],
  ['egrep', grep('input')],
  ['fgrep', grep('input')],
  ['rg', grep('folder')],
  ['find', find],
  ['git', git],
])

/** Calls that a program which only reads amounts to; null for every other, and wherever its variables are set. */
export const readingCalls = (part: ShellPart): readonly OtherCall[] | null => {
  const { command, args, environment, working_directory } = part
  if (Object.keys(environment).length > 0) return null
  return programs.get(command)?.(args, working_directory) ?? null
}
