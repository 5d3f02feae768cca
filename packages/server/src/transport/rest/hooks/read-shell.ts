import { posix } from 'node:path'
import {
  type AndOr,
  type Command,
  type CompoundList,
  type HereDoc,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
} from 'unbash'
import { literal } from './shell-word.ts'

export type ReadPart = {
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly working_directory: string
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

export type ReadShell = {
  readonly parts: readonly ReadPart[]
  /** Part of the line that cannot be understood; null where all can. */
  readonly unclear: string | null
}

const partsMax = 200
const lineCharsMax = 131_072

/** Builtins that change what the rest of a line means, or run text. */
const changing = new Set([
  ...[
    '.',
    'alias',
    'bind',
    'builtin',
    'command',
    'complete',
    'coproc',
    'declare',
    'enable',
    'eval',
    'exec',
  ],
  ...[
    'export',
    'fc',
    'function',
    'hash',
    'local',
    'mapfile',
    'nocorrect',
    'noglob',
    'popd',
    'pushd',
  ],
  ...[
    'read',
    'readarray',
    'readonly',
    'shopt',
    'source',
    'trap',
    'typeset',
    'unalias',
    'unset',
    'zmodload',
  ],
])

const harmlessSet = /^([-+][eux]+o?|[-+]o|pipefail)$/

class Unclear extends Error {}

const unclear = (what: string): never => {
  throw new Unclear(what)
}

const wordOf = (word: Parameters<typeof literal>[0]): string =>
  literal(word) ?? unclear(`the shell works out ${word.text.slice(0, 80)}`)

const standard = /^\/dev\/(null|stdin|stdout|stderr|tty|fd\/\d+)$/

const descriptor = /^(\d+|-|\d+-)$/
const readingOperators: ReadonlySet<string> = new Set(['<', '<>'])

const assertPlainText = ({ body, delimiter, closing }: HereDoc): void => {
  const expands = !delimiter?.quoted && body.parts?.some(({ type }) => type !== 'Literal')
  if (expands || !closing) unclear('the shell works out its here-document')
}

/** The file of a redirection as it is written; null where it leads to none. */
const redirectedTo = (redirect: Redirection): string | null => {
  if (redirect.descriptor?.type === 'FileDescriptorVariable')
    unclear('it names a descriptor by a variable')
  if (redirect.type === 'HereDoc') {
    assertPlainText(redirect)
    return null
  }
  if (!redirect.target) return unclear('a redirection names nothing')
  const target = wordOf(redirect.target)
  const { operator } = redirect
  if (operator === '<<<' || standard.test(target)) return null
  if ((operator === '<&' || operator === '>&') && descriptor.test(target)) return null
  if (operator === '<&') return unclear(`it reads from ${target.slice(0, 80)}`)
  if (target.startsWith('/dev/')) unclear(`it is redirected to ${target.slice(0, 80)}`)
  return target
}

/** Folder that commands start in; null after a `cd` of which nobody knows whether it worked. */
type Place = { folder: string | null }

class Reader {
  readonly parts: ReadPart[] = []

  list(statements: readonly Statement[], place: Place): void {
    for (const { command, background } of statements) {
      const before = place.folder
      if (command.type === 'AndOr') this.#chain(command, place)
      else this.#node(command, place)
      // The background part went on in a shell of its own.
      if (background) place.folder = before
      else if (place.folder !== before) place.folder = null
    }
  }

  #chain({ commands, operators }: AndOr, place: Place): void {
    const before = place.folder
    let either = false
    commands.forEach((node, at) => {
      either ||= operators[at - 1] === '||'
      // Where only one of two runs, nobody knows whether the folder was changed.
      if (either && place.folder !== before) place.folder = null
      const sure = place.folder
      this.#node(node, place)
      if (either && place.folder !== sure) place.folder = null
    })
  }

  #node(node: PipelineNode, place: Place): void {
    switch (node.type) {
      case 'Command':
        return this.#command(node, place)
      case 'Pipeline': {
        const [only, ...others] = node.commands
        if (only && others.length === 0) {
          const before = place.folder
          this.#node(only, place)
          const negated = node.prefixes.some(({ type }) => type === 'Negation')
          // A part behind a negated `cd` with && runs where it failed.
          if (negated && place.folder !== before) place.folder = null
          return
        }
        for (const part of node.commands) this.#node(part, { ...place })
        return
      }
      case 'Subshell':
        return this.#body(node.body, { ...place })
      case 'BraceGroup':
        return this.#body(node.body, place)
      case 'Redirected': {
        this.#node(node.command, place)
        this.#redirected(node.redirects, place)
        return
      }
      default:
        return unclear(`it has ${described[node.type] ?? 'a form of its own'}`)
    }
  }

  #body({ commands }: CompoundList, place: Place): void {
    this.list(commands, place)
  }

  #redirected(redirects: readonly Redirection[], place: Place): void {
    const files = this.#files(redirects, this.#folder(place))
    if (files.reads.length + files.writes.length > 0)
      this.#add({ command: '', args: [], environment: {}, ...files }, place)
  }

  #command(command: Command, place: Place): void {
    const environment: Record<string, string> = {}
    for (const item of command.prefix)
      if (item.type === 'Assignment') {
        const { name, value, append, index } = item
        if (append || index || value.type !== 'Word') unclear(`it sets ${item.text.slice(0, 80)}`)
        else environment[name] = wordOf(value)
      }
    const words = command.args.map((arg) =>
      arg.type === 'Word' ? wordOf(arg) : unclear(`it sets ${arg.text.slice(0, 80)}`),
    )
    if (!command.name) {
      if (Object.keys(environment).length > 0) unclear('it sets variables for what follows')
      return this.#redirected(command.redirects, place)
    }
    const name = wordOf(command.name)
    const folder = this.#folder(place)
    if (name === 'cd') return this.#changeFolder(words, environment, command.redirects, place)
    if (name === 'set' && words.every((word) => harmlessSet.test(word)) && words.length > 0) return
    if (name === 'set' || changing.has(name)) unclear(`${name} changes what the rest means`)
    this.#add(
      { command: name, args: words, environment, ...this.#files(command.redirects, folder) },
      place,
    )
  }

  #changeFolder(
    words: readonly string[],
    environment: object,
    redirects: readonly Redirection[],
    place: Place,
  ): void {
    const [to, ...others] = words
    if (to === undefined || to.startsWith('-') || others.length > 0 || redirects.length > 0)
      return unclear('it changes to a folder that is not named')
    if (Object.keys(environment).length > 0) unclear('it sets variables for cd')
    place.folder = posix.resolve(this.#folder(place), to)
  }

  #folder({ folder }: Place): string {
    return folder ?? unclear('it changes the folder, and may fail to: join what follows with &&')
  }

  #files(redirects: readonly Redirection[], folder: string) {
    const reads: string[] = []
    const writes: string[] = []
    for (const redirect of redirects) {
      const found = redirectedTo(redirect)
      if (found === null) continue
      const path = posix.resolve(folder, found)
      if (readingOperators.has(redirect.operator)) reads.push(path)
      if (redirect.operator !== '<') writes.push(path)
    }
    return { reads, writes }
  }

  #add(part: Omit<ReadPart, 'working_directory'>, place: Place): void {
    if (this.parts.length >= partsMax) unclear(`it starts more than ${partsMax} programs`)
    this.parts.push({ ...part, working_directory: this.#folder(place) })
  }
}

const described: Readonly<Record<string, string>> = {
  If: 'a condition',
  For: 'a loop',
  While: 'a loop',
  ArithmeticFor: 'a loop',
  Select: 'a loop',
  Case: 'a condition',
  Function: 'a function',
  Coproc: 'a coprocess',
  TestCommand: 'a test in [[ ]]',
  ArithmeticCommand: 'arithmetic',
}

/** Where a tree goes on; some of it is made when it is asked for, and is no member before. */
const branches = [
  ...[
    'args',
    'body',
    'clause',
    'command',
    'commands',
    'elements',
    'elif',
    'else',
    'expression',
    'index',
  ],
  ...[
    'initialize',
    'items',
    'left',
    'name',
    'operand',
    'operands',
    'operation',
    'parts',
    'pattern',
    'prefix',
  ],
  ...[
    'redirects',
    'right',
    'script',
    'suffix',
    'target',
    'test',
    'then',
    'update',
    'value',
    'word',
    'wordlist',
  ],
]

/** Every command in a tree, whatever stands around it, with its words as they are written. */
const commandsIn = (node: unknown, found: Command[], depth = 0): void => {
  if (typeof node !== 'object' || node === null || depth > 200 || found.length >= partsMax) return
  if (Array.isArray(node)) {
    for (const item of node) commandsIn(item, found, depth + 1)
    return
  }
  if ((node as { readonly type?: unknown }).type === 'Command') found.push(node as Command)
  for (const branch of branches)
    commandsIn((node as Readonly<Record<string, unknown>>)[branch], found, depth + 1)
}

/** Guess about a line that is not understood, so that what policy blocks stays blocked. */
const guessed = (script: unknown, folder: string): readonly ReadPart[] => {
  const found: Command[] = []
  commandsIn(script, found)
  return found.flatMap((command) =>
    command.name
      ? [
          {
            command: command.name.value.slice(0, 4096) || '?',
            args: command.args
              .map((arg) => (arg.type === 'Word' ? arg.value : arg.text))
              .slice(0, 1_000),
            environment: {},
            working_directory: folder,
            reads: [],
            writes: [],
          },
        ]
      : [],
  )
}

/**
 * The programs that a shell line starts, where all of it is plain: names, words, quotes, pipes, lists, groups,
 * redirections. Whatever a shell would work out first is not guessed.
 */
export function readShell(line: string, folder: string): ReadShell {
  if (line.length > lineCharsMax) return { parts: [], unclear: 'it is too long' }
  const unseen = /[\0\r\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/.test(line)
  if (unseen) return { parts: [], unclear: 'it has characters that nobody sees' }
  let script: ReturnType<typeof parse> | null = null
  try {
    script = parse(line)
    if (script.errors?.length) unclear(script.errors[0]?.message ?? 'it is malformed')
    const reader = new Reader()
    reader.list(script.commands, { folder })
    return { parts: reader.parts, unclear: null }
  } catch (cause) {
    const what = cause instanceof Unclear ? cause.message : 'it cannot be read'
    return { parts: script ? guessed(script, folder) : [], unclear: what.slice(0, 500) }
  }
}
