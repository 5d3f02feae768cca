import {
  didYouMean,
  PolicyFile,
  type PolicyLayer,
  type PolicyProblem,
  type PolicyRule,
  type PolicyTest,
  type RuleRef,
} from '@gatehouse/contract'
import { covers } from '../domain/policy/match.ts'
import type { Condition, Layer, LayerRule } from '../domain/policy/types.ts'
import { parseWindow } from '../domain/policy/window.ts'
import { toolSetOf, unmatchedIn } from '../domain/tool-set.ts'
import { compileCondition } from './cel.ts'
import { foldersIn, nameOf, type Part, partsOf } from './file-effects.ts'
import { shapeFaults } from './shape-faults.ts'
import { type KnownNames, noArgument, unknownName } from './unknown-names.ts'
import { type Fault, type PlacedYaml, type Position, readYaml } from './yaml-text.ts'

/** Identity of a file: its place says for whom it applies. */
export type FileId = {
  readonly layer: PolicyLayer
  readonly file: string
  readonly agent: string | null
}

export type PlacedTest = { readonly test: PolicyTest; readonly at: Position }

export type ParsedFile = {
  readonly id: FileId
  readonly text: string
  readonly layer: Layer
  /** Names that the file's rules and tests were checked by. */
  readonly names: KnownNames
  readonly tests: readonly PlacedTest[]
  readonly warnings: readonly PolicyProblem[]
  positionOf(rule: LayerRule): Position
}

export type FileParse =
  | { readonly kind: 'ok'; readonly parsed: ParsedFile }
  | { readonly kind: 'refused'; readonly problems: readonly PolicyProblem[] }

/**
 * Treatment of a name that is not known: `refused` in a file that is offered, `warned` in the copy of
 * one that was valid, so that a version of the service with fewer capabilities does not close the gate.
 */
type UnknownNames = 'refused' | 'warned'

const problemsMax = 50

type Reader = {
  readonly id: FileId
  readonly yaml: PlacedYaml
  readonly names: KnownNames
  readonly unknown: UnknownNames
  readonly errors: Fault[]
  readonly warnings: Fault[]
  /** Where each rule begins. */
  readonly positions: Map<RuleRef, Position>
}

/** @SECURITY A rule for a name that nothing has would look like protection and be none; parse-file.test.ts. */
const noteUnknown = (reader: Reader, at: Position, message: string): void => {
  const faults = reader.unknown === 'refused' ? reader.errors : reader.warnings
  faults.push({ ...at, message })
}

const checkName = (reader: Reader, match: string, at: Position): void => {
  const unknown = unknownName(match, reader.names)
  if (unknown?.mayCome) reader.warnings.push({ ...at, message: unknown.message })
  else if (unknown) noteUnknown(reader, at, unknown.message)
}

/** The arguments of all that some pattern matches; null where those of one are not known. */
const argumentsFor = (
  matches: readonly string[],
  { capabilities }: KnownNames,
): readonly string[] | null => {
  const lists = [...capabilities]
    .filter(([name]) => matches.some((match) => covers(match, name)))
    .map(([, list]) => list)
  if (lists.length === 0 || lists.includes(null)) return null
  return [...new Set(lists.flatMap((list) => list ?? []))]
}

const variables = ['args', 'agent', 'session', 'host', 'now']

/** `path` where `args.path` was meant, and other words that are no variable. */
const variableHint = (message: string, known: readonly string[] | null): string => {
  const name = /^Unknown variable: (\w+)$/.exec(message)?.[1]
  if (name === undefined) return ''
  return known?.includes(name) ? `. Did you mean args.${name}?` : didYouMean(name, variables)
}

const refOf = ({ id, yaml }: Reader, list: 'rules' | 'limits', index: number, match: string) =>
  Object.freeze({
    layer: id.layer,
    file: id.file,
    line: yaml.at([list, index]).line,
    match,
  })

const conditionOf = (
  reader: Reader,
  matches: readonly string[],
  source: string,
  index: number,
): LayerRule['when'] => {
  const compiled = compileCondition(source)
  const path = ['rules', index, 'when']
  const known = argumentsFor(matches, reader.names)
  if (compiled.kind === 'ok') {
    for (const name of known === null ? [] : (compiled.condition.reads ?? [])) {
      if (known?.includes(name)) continue
      const offset = Math.max(0, source.indexOf(`args.${name}`))
      const at = reader.yaml.within(path, offset) ?? reader.yaml.at(path)
      noteUnknown(reader, at, `condition: ${noArgument(matches, name, known ?? [])}`)
    }
    return compiled.condition
  }
  const { offset } = compiled.problem
  const message = `${compiled.problem.message}${variableHint(compiled.problem.message, known)}`
  const exact = reader.yaml.within(path, offset)
  reader.errors.push(
    exact
      ? { ...exact, message: `condition: ${message}` }
      : {
          ...reader.yaml.at(path),
          message: `condition: ${message} (at character ${offset + 1} of the condition)`,
        },
  )
  return null
}

/** @SECURITY Hosts on a rule that starts no program would look like a permission and be none; parse-file.test.ts. */
const assertNetwork = (reader: Reader, match: string, index: number): void => {
  if (match === 'process.run' || match === 'process.*') return
  const message = `network belongs to a rule for process.run or process.*, not for ${match}`
  reader.errors.push({ ...reader.yaml.atKey(['rules', index, 'network']), message })
}

/** @SECURITY A rule that asks nobody would look like care and be none; parse-file.test.ts. */
const assertAsks = (reader: Reader, tier: LayerRule['tier'], index: number): void => {
  if (tier === 'approval_required') return
  const message = `critical belongs to a rule of the tier approval_required, not ${tier}`
  reader.errors.push({ ...reader.yaml.atKey(['rules', index, 'critical']), message })
}

/** Each of them stands for many rules. */
const byEffectMax = 100

const assertFewByEffect = (reader: Reader, { rules }: PolicyFile): void => {
  const found = rules.flatMap(({ match }, index) => (typeof match === 'string' ? [] : [index]))
  const first = found[byEffectMax]
  if (first === undefined) return
  const message = `a file has at most ${byEffectMax} rules that match by effect`
  reader.errors.push({ ...reader.yaml.at(['rules', first, 'match']), message })
}

const matchError = (reader: Reader, index: number, key: string, message: string): void => {
  reader.errors.push({ ...reader.yaml.at(['rules', index, 'match', key]), message })
}

/** The capabilities that a written rule decides, each with its condition; null where none of its own. */
const partsIn = (reader: Reader, rule: PolicyRule, index: number): readonly Part[] => {
  const { match, tier } = rule
  if (typeof match === 'string') {
    checkName(reader, match, reader.yaml.at(['rules', index, 'match']))
    return [{ capability: match, condition: null }]
  }
  const folders = foldersIn(match)
  const absolute = folders.filter((folder) => folder.startsWith('/'))
  if (absolute.length > 0 && absolute.length < folders.length)
    matchError(reader, index, 'under', 'absolute and relative folders belong to rules of their own')
  return partsOf(match, tier).filter(({ capability }) => reader.names.capabilities.has(capability))
}

/** Both conditions, each of which sees paths in its own form. */
const bothOf = (where: Condition, own: Condition): Condition => ({
  source: `(${where.source}) && (${own.source})`,
  readsArguments: true,
  reads: where.reads && own.reads ? new Set([...where.reads, ...own.reads]) : null,
  texts: [...(where.texts ?? []), ...(own.texts ?? [])],
  evaluate: (question) => where.evaluate(question) && own.evaluate(question),
  explain: (question) => where.explain?.(question) ?? own.explain?.(question) ?? null,
})

const partCondition = (
  reader: Reader,
  part: Part,
  own: Condition | null,
  index: number,
): Condition | null => {
  if (part.condition === null) return own
  const compiled = compileCondition(part.condition)
  if (compiled.kind === 'ok') return own ? bothOf(compiled.condition, own) : compiled.condition
  matchError(reader, index, 'under', 'these are too many or too long folders for one rule')
  return own
}

const rulesOf = (reader: Reader, file: PolicyFile): readonly LayerRule[] => {
  assertFewByEffect(reader, file)
  return file.rules.flatMap((rule, index) => {
    const name = typeof rule.match === 'string' ? rule.match : nameOf(rule.match)
    const parts = partsIn(reader, rule, index)
    if (rule.network !== undefined) assertNetwork(reader, name, index)
    if (rule.critical) assertAsks(reader, rule.tier, index)
    const matches = parts.map(({ capability }) => capability)
    const own = rule.when === undefined ? null : conditionOf(reader, matches, rule.when, index)
    const ref = refOf(reader, 'rules', index, name)
    reader.positions.set(ref, reader.yaml.at(['rules', index]))
    return parts.map((part) => ({
      match: part.capability,
      tier: rule.tier,
      notify: rule.notify ?? false,
      floor: rule.floor ?? false,
      ...(rule.critical ? { critical: true as const } : {}),
      reason: rule.reason ?? null,
      when: partCondition(reader, part, own, index),
      ...(typeof rule.match === 'string' ? {} : { written_when: rule.when ?? null }),
      ...(rule.network === undefined ? {} : { network: rule.network }),
      ref,
    }))
  })
}

const limitsOf = (reader: Reader, file: PolicyFile): Layer['limits'] =>
  file.limits.map((limit, index) => {
    checkName(reader, limit.match, reader.yaml.at(['limits', index, 'match']))
    const window_ms = parseWindow(limit.window) ?? 0
    return { ...limit, window_ms, ref: refOf(reader, 'limits', index, limit.match) }
  })

/** A pattern that nothing fits takes a tool away and gives none: nobody is let in by it. */
const toolsOf = (reader: Reader, { tools }: PolicyFile): Pick<Layer, 'tools'> => {
  if (tools === undefined) return {}
  const patterns = toolSetOf(tools)
  const known = [...reader.names.capabilities.keys()]
  for (const pattern of unmatchedIn(patterns, known)) {
    const at = reader.yaml.at(['tools', tools.indexOf(pattern)])
    const meant = didYouMean(pattern, known)
    reader.warnings.push({
      ...at,
      message: `${pattern} matches no tool that is known now.${meant}`,
    })
  }
  if (patterns.length === 0) return {}
  const { layer, file } = reader.id
  const { line } = reader.yaml.atKey(['tools'])
  return { tools: { patterns, ref: Object.freeze({ layer, file, line, match: 'tools' }) } }
}

const testsOf = (reader: Reader, file: PolicyFile): readonly PlacedTest[] =>
  file.tests.map((test, index) => {
    const at = reader.yaml.at(['tests', index])
    checkName(reader, test.capability, reader.yaml.at(['tests', index, 'capability']))
    if (test.at !== undefined && Number.isNaN(Date.parse(test.at))) {
      const message = `tests[${index}].at is not a time such as 2026-01-01T12:00:00Z`
      reader.errors.push({ ...reader.yaml.at(['tests', index, 'at']), message })
    }
    const known = reader.names.capabilities.get(test.capability) ?? null
    for (const name of known === null ? [] : Object.keys(test.args ?? {})) {
      if (known?.includes(name)) continue
      const place = reader.yaml.atKey(['tests', index, 'args', name])
      noteUnknown(reader, place, noArgument([test.capability], name, known ?? []))
    }
    const own = reader.id.agent
    if (own !== null && test.agent !== undefined && test.agent !== own) {
      const message = `a test in the file of ${own} is about ${own}, not ${test.agent}`
      reader.errors.push({ ...reader.yaml.at(['tests', index, 'agent']), message })
    }
    return { test, at }
  })

const problemsOf = (
  { file }: FileId,
  faults: readonly Fault[],
  severity: PolicyProblem['severity'],
): readonly PolicyProblem[] =>
  faults.slice(0, problemsMax).map((fault) => ({ file, ...fault, severity }))

/** A file that sets nothing is more likely a file that was cut off than one that means nothing. */
const saysNothing = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !('rules' in value || 'limits' in value || 'tools' in value)

/** Reads one policy file whole, or says all that is wrong with it and where. */
export const parsePolicyFile = (
  id: FileId,
  text: string,
  names: KnownNames,
  unknown: UnknownNames = 'refused',
): FileParse => {
  const refuse = (faults: readonly Fault[]): FileParse => ({
    kind: 'refused',
    problems: problemsOf(id, faults, 'error'),
  })
  const yaml = readYaml(text)
  if (yaml.kind === 'faults') return refuse(yaml.faults)
  const shaped = PolicyFile.safeParse(yaml.value)
  if (!shaped.success) return refuse(shapeFaults(shaped.error, yaml))
  if (saysNothing(yaml.value)) {
    return refuse([
      { line: 1, column: 1, message: 'the file has neither rules nor limits nor tools' },
    ])
  }
  const reader: Reader = {
    id,
    yaml,
    names,
    unknown,
    errors: [],
    warnings: [],
    positions: new Map(),
  }
  const rules = rulesOf(reader, shaped.data)
  const limits = limitsOf(reader, shaped.data)
  const tools = toolsOf(reader, shaped.data)
  const tests = testsOf(reader, shaped.data)
  if (reader.errors.length > 0) return refuse(reader.errors)
  return {
    kind: 'ok',
    parsed: {
      id,
      text,
      layer: { ...id, rules, limits, ...tools },
      names,
      tests,
      warnings: problemsOf(id, reader.warnings, 'warning'),
      positionOf: (rule) => reader.positions.get(rule.ref) ?? { line: rule.ref.line, column: 1 },
    },
  }
}
