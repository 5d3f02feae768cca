import {
  didYouMean,
  PolicyFile,
  type PolicyLayer,
  type PolicyProblem,
  type PolicyTest,
} from '@gatehouse/contract'
import { groupOf } from '../domain/policy/match.ts'
import type { Layer, LayerRule } from '../domain/policy/types.ts'
import { parseWindow } from '../domain/policy/window.ts'
import { compileCondition } from './cel.ts'
import { shapeFaults } from './shape-faults.ts'
import { type Fault, type PlacedYaml, type Position, readYaml } from './yaml-text.ts'

/** Which file it is: its place says for whom it holds. */
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
  readonly tests: readonly PlacedTest[]
  readonly warnings: readonly PolicyProblem[]
  positionOf(rule: LayerRule): Position
}

export type FileParse =
  | { readonly kind: 'ok'; readonly parsed: ParsedFile }
  | { readonly kind: 'refused'; readonly problems: readonly PolicyProblem[] }

/** Names a rule or a test may speak of; a capability that is not there is worth a warning. */
export type KnownNames = {
  readonly capabilities: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
}

export const knownNamesOf = (capabilities: readonly string[]): KnownNames => ({
  capabilities: new Set(capabilities),
  groups: new Set(capabilities.map(groupOf)),
})

const problemsMax = 50

type Reader = {
  readonly id: FileId
  readonly yaml: PlacedYaml
  readonly names: KnownNames
  readonly errors: Fault[]
  readonly warnings: Fault[]
}

const unknownName = (match: string, names: KnownNames): string | null => {
  if (match === '*') return null
  if (match.endsWith('.*')) {
    const group = groupOf(match)
    if (names.groups.has(group)) return null
    return `there is no capability in a group ${group}.${didYouMean(group, [...names.groups])}`
  }
  if (names.capabilities.has(match)) return null
  return `there is no capability ${match}.${didYouMean(match, [...names.capabilities])}`
}

const warnOfName = (reader: Reader, match: string, at: Position): void => {
  const message = unknownName(match, reader.names)
  if (message) reader.warnings.push({ ...at, message })
}

const refOf = ({ id, yaml }: Reader, list: 'rules' | 'limits', index: number, match: string) =>
  Object.freeze({
    layer: id.layer,
    file: id.file,
    line: yaml.at([list, index]).line,
    match,
  })

const conditionOf = (reader: Reader, source: string, index: number): LayerRule['when'] => {
  const compiled = compileCondition(source)
  if (compiled.kind === 'ok') return compiled.condition
  const { message, offset } = compiled.problem
  const path = ['rules', index, 'when']
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

const rulesOf = (reader: Reader, file: PolicyFile): readonly LayerRule[] =>
  file.rules.map((rule, index) => {
    warnOfName(reader, rule.match, reader.yaml.at(['rules', index, 'match']))
    if (rule.network !== undefined) assertNetwork(reader, rule.match, index)
    return {
      match: rule.match,
      tier: rule.tier,
      notify: rule.notify ?? false,
      floor: rule.floor ?? false,
      reason: rule.reason ?? null,
      when: rule.when === undefined ? null : conditionOf(reader, rule.when, index),
      ...(rule.network === undefined ? {} : { network: rule.network }),
      ref: refOf(reader, 'rules', index, rule.match),
    }
  })

const limitsOf = (reader: Reader, file: PolicyFile): Layer['limits'] =>
  file.limits.map((limit, index) => {
    warnOfName(reader, limit.match, reader.yaml.at(['limits', index, 'match']))
    const window_ms = parseWindow(limit.window) ?? 0
    return { ...limit, window_ms, ref: refOf(reader, 'limits', index, limit.match) }
  })

const testsOf = (reader: Reader, file: PolicyFile): readonly PlacedTest[] =>
  file.tests.map((test, index) => {
    const at = reader.yaml.at(['tests', index])
    warnOfName(reader, test.capability, reader.yaml.at(['tests', index, 'capability']))
    if (test.at !== undefined && Number.isNaN(Date.parse(test.at))) {
      const message = `tests[${index}].at is not a time such as 2026-01-01T12:00:00Z`
      reader.errors.push({ ...reader.yaml.at(['tests', index, 'at']), message })
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
  typeof value === 'object' && value !== null && !('rules' in value) && !('limits' in value)

/** Reads one policy file whole, or says all that is wrong with it and where. */
export const parsePolicyFile = (id: FileId, text: string, names: KnownNames): FileParse => {
  const refuse = (faults: readonly Fault[]): FileParse => ({
    kind: 'refused',
    problems: problemsOf(id, faults, 'error'),
  })
  const yaml = readYaml(text)
  if (yaml.kind === 'faults') return refuse(yaml.faults)
  const shaped = PolicyFile.safeParse(yaml.value)
  if (!shaped.success) return refuse(shapeFaults(shaped.error, yaml))
  if (saysNothing(yaml.value)) {
    return refuse([{ line: 1, column: 1, message: 'the file has neither rules nor limits' }])
  }
  const reader: Reader = { id, yaml, names, errors: [], warnings: [] }
  const rules = rulesOf(reader, shaped.data)
  const limits = limitsOf(reader, shaped.data)
  const tests = testsOf(reader, shaped.data)
  if (reader.errors.length > 0) return refuse(reader.errors)
  const positions = new Map(rules.map((rule, index) => [rule, yaml.at(['rules', index])]))
  return {
    kind: 'ok',
    parsed: {
      id,
      text,
      layer: { ...id, rules, limits },
      tests,
      warnings: problemsOf(id, reader.warnings, 'warning'),
      positionOf: (rule) => positions.get(rule) ?? { line: rule.ref.line, column: 1 },
    },
  }
}
