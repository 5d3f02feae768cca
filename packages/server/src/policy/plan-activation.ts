import { createHash } from 'node:crypto'
import type { PolicyProblem, RuleRef } from '@gatehouse/contract'
import { compilePolicy } from '../domain/policy/compile.ts'
import { type DeadRule, findDeadRules } from '../domain/policy/dead-rules.ts'
import { covers, everyPattern } from '../domain/policy/match.ts'
import type { CompiledPolicy, Layer, LayerRule, LayerTools } from '../domain/policy/types.ts'
import { openWayWarnings } from './open-ways.ts'
import { type FileId, type FileParse, type ParsedFile, parsePolicyFile } from './parse-file.ts'
import { type ArgumentsOf, failingTests } from './run-tests.ts'
import type { KnownNames } from './unknown-names.ts'

/** A file as it is offered: its text, or why it has none; and what to fall back on. */
export type Offer = {
  readonly id: FileId
  readonly content: { readonly text: string } | { readonly unreadable: string }
}

/** Standing of one file: the active parsed file, or a wall where no good version is known. */
export type Standing =
  | { readonly kind: 'active'; readonly parsed: ParsedFile }
  | { readonly kind: 'walled'; readonly layer: Layer; readonly text: string }

export type Activation = {
  readonly policy: CompiledPolicy
  readonly standing: ReadonlyMap<string, Standing>
  readonly problems: readonly PolicyProblem[]
  /** Of each active file. */
  readonly counts: ReadonlyMap<string, Counts>
}

export type Counts = { readonly rules: number; readonly testsPassed: number }

export type ActivationInput = {
  readonly system: ParsedFile
  readonly offers: readonly Offer[]
  /** Standings before; at a start, the copies of what was last active. */
  readonly before: ReadonlyMap<string, Standing>
  /** At a start a bad file without a good version walls; later it just does not become active. */
  readonly starting: boolean
  readonly names: KnownNames
  readonly argumentsOf: ArgumentsOf
}

/** Denies every call that a file could have spoken of, since what it meant to forbid is unknown. */
const wallOf = (id: FileId, problem: PolicyProblem, text: string): Standing => {
  const rules = [...everyPattern].map((match) => ({
    match,
    tier: 'blocked' as const,
    notify: false,
    floor: true,
    reason: `The policy file ${id.file} is not valid (line ${problem.line}), and no earlier version is known. Every call it could affect is denied until it is mended.`,
    when: null,
    ref: { layer: id.layer, file: id.file, line: problem.line, match },
  }))
  return { kind: 'walled', layer: { ...id, rules, limits: [] }, text }
}

/** Rules and limits that a file stands for now. */
export const layerOf = (standing: Standing): Layer =>
  standing.kind === 'active' ? standing.parsed.layer : standing.layer

const textOf = (standing: Standing): string =>
  standing.kind === 'active' ? standing.parsed.text : `walled\n${standing.text}`

const versionOf = (files: readonly (readonly [string, string])[]): string => {
  const sorted = files.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `sha256:${createHash('sha256').update(JSON.stringify(sorted)).digest('hex')}`
}

const compileAll = (
  system: ParsedFile,
  standing: ReadonlyMap<string, Standing>,
): CompiledPolicy => {
  const below = [...standing]
  const texts = below.map(([file, one]) => [file, textOf(one)] as const)
  return compilePolicy(versionOf([[system.id.file, system.text], ...texts]), [
    system.layer,
    ...below.map(([, one]) => layerOf(one)),
  ])
}

const parseOffer = ({ id, content }: Offer, names: KnownNames, known?: Standing): FileParse => {
  if ('unreadable' in content) {
    const { file } = id
    const message = content.unreadable
    return { kind: 'refused', problems: [{ file, line: 1, column: 1, message, severity: 'error' }] }
  }
  if (known?.kind === 'active' && known.parsed.text === content.text) {
    // An active file stays: people hear of names that have gone since, and what it forbids stays forbidden.
    return known.parsed.names === names
      ? { kind: 'ok', parsed: known.parsed }
      : parsePolicyFile(id, content.text, names, 'warned')
  }
  return parsePolicyFile(id, content.text, names)
}

const describe = (dead: DeadRule): string => {
  const { file, line, match } = dead.because.ref
  return dead.kind === 'never_reached'
    ? `this rule is never reached: ${match} in line ${line} always matches first`
    : `this rule is overridden by the floor ${match} in ${file}:${line}, which is ${dead.because.tier}`
}

/** Rules of which each part is found: a rule that matches by effect is several, and does something by any of them. */
const wholly = <T>(
  rules: readonly LayerRule[],
  found: readonly T[],
  ruleOf: (one: T) => LayerRule,
): readonly T[] => {
  const counted = (all: readonly LayerRule[]) => {
    const counts = new Map<RuleRef, number>()
    for (const { ref } of all) counts.set(ref, (counts.get(ref) ?? 0) + 1)
    return counts
  }
  const parts = counted(rules)
  const foundParts = counted([...new Set(found.map(ruleOf))])
  const first = new Map(found.toReversed().map((one) => [ruleOf(one).ref, one]))
  return found.filter((one) => {
    const { ref } = ruleOf(one)
    return first.get(ref) === one && foundParts.get(ref) === parts.get(ref)
  })
}

const deadIn = (layer: Layer, above: readonly Layer[]): readonly DeadRule[] => {
  const found = findDeadRules(layer, above)
  return (['never_reached', 'overridden'] as const).flatMap((kind) =>
    wholly(
      layer.rules,
      found.filter((dead) => dead.kind === kind),
      ({ rule }) => rule,
    ),
  )
}

const deadRuleWarnings = (
  system: ParsedFile,
  standing: ReadonlyMap<string, Standing>,
): readonly PolicyProblem[] => {
  const shared = [system.layer, ...[...standing.values()].map(layerOf)].filter(
    (layer) => layer.layer !== 'agent',
  )
  return [...standing.values()].flatMap((one) =>
    one.kind === 'active'
      ? deadIn(one.parsed.layer, shared).map((dead) => ({
          file: one.parsed.id.file,
          ...one.parsed.positionOf(dead.rule),
          message: describe(dead),
          severity: 'warning' as const,
        }))
      : [],
  )
}

/** Rules that let something pass and that no call reaches, since a list of tools leaves out all that they match. */
const leftOutWarnings = (
  policy: CompiledPolicy,
  { id, layer, names, positionOf }: ParsedFile,
): readonly PolicyProblem[] => {
  const known = [...names.capabilities.keys()]
  const leftOut = new Map<string, LayerTools | null>()
  const leavingAllOut = (match: string): LayerTools | null => {
    const matched = known.filter((name) => covers(match, name))
    const lists = matched.map((name) => policy.leftOutBy(id.agent ?? '', name))
    return lists.includes(null) ? null : (lists[0] ?? null)
  }
  const toolsFor = ({ match }: LayerRule): LayerTools | null => {
    if (!leftOut.has(match)) leftOut.set(match, leavingAllOut(match))
    return leftOut.get(match) ?? null
  }
  const found = layer.rules.filter((rule) => rule.tier !== 'blocked' && toolsFor(rule) !== null)
  return wholly(layer.rules, found, (rule) => rule).flatMap((rule): readonly PolicyProblem[] => {
    const tools = toolsFor(rule)
    if (tools === null) return []
    const message = `no call comes as far as this rule: the tools of ${tools.ref.file}:${tools.ref.line} leave ${rule.ref.match} out`
    return [{ file: id.file, ...positionOf(rule), message, severity: 'warning' }]
  })
}

type Round = {
  readonly offer: Offer
  /** Null once it is refused. */
  parsed: ParsedFile | null
  problems: readonly PolicyProblem[]
}

const isNew = (round: Round, before: ActivationInput['before']): boolean => {
  const known = before.get(round.offer.id.file)
  return !(known?.kind === 'active' && known.parsed.text === round.parsed?.text)
}

const standingOf = (rounds: readonly Round[], input: ActivationInput): Map<string, Standing> => {
  const standing = new Map<string, Standing>()
  for (const { offer, parsed, problems } of rounds) {
    const { file } = offer.id
    const before = input.before.get(file)
    const [first] = problems
    if (parsed) standing.set(file, { kind: 'active', parsed })
    else if (before) standing.set(file, before)
    else if (input.starting && first) {
      const text = 'text' in offer.content ? offer.content.text : offer.content.unreadable
      standing.set(file, wallOf(offer.id, first, text))
    }
  }
  return standing
}

const asWarnings = (problems: readonly PolicyProblem[]): readonly PolicyProblem[] =>
  problems.map((problem) => ({ ...problem, severity: 'warning' }))

const consequence = (round: Round, standing: ReadonlyMap<string, Standing>): string => {
  const { file, agent } = round.offer.id
  const one = standing.get(file)
  if (one?.kind === 'active') return 'The previous version stays active.'
  if (!one) return 'It is not active.'
  return agent === null ? 'Every call is denied.' : `Every call of ${agent} is denied.`
}

const sentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

const problemsOf = (round: Round, standing: ReadonlyMap<string, Standing>) =>
  round.parsed
    ? round.parsed.warnings
    : round.problems.map((problem, index) =>
        index > 0
          ? problem
          : { ...problem, message: `${sentence(problem.message)} ${consequence(round, standing)}` },
      )

const countsOf = (
  standing: ReadonlyMap<string, Standing>,
  failed: ReadonlyMap<string, number>,
): ReadonlyMap<string, Counts> => {
  const counts = new Map<string, Counts>()
  for (const [file, one] of standing) {
    if (one.kind !== 'active') continue
    const { layer, tests } = one.parsed
    const testsPassed = tests.length - (failed.get(file) ?? 0)
    const rules = new Set(layer.rules.map(({ ref }) => ref)).size
    counts.set(file, { rules, testsPassed })
  }
  return counts
}

/**
 * Brings a set of files to one policy. A file that is bad, or whose own tests the whole then fails,
 * is refused by itself; the others become active together.
 */
export const planActivation = (input: ActivationInput): Activation => {
  const rounds = input.offers.map((offer): Round => {
    const result = parseOffer(offer, input.names, input.before.get(offer.id.file))
    return result.kind === 'ok'
      ? { offer, parsed: result.parsed, problems: [] }
      : { offer, parsed: null, problems: result.problems }
  })
  let standing = standingOf(rounds, input)
  let policy = compileAll(input.system, standing)
  const notes: PolicyProblem[] = []
  const failed = new Map<string, number>()
  // Each turn refuses a file or ends, so it ends.
  for (let refused = true; refused; ) {
    refused = false
    notes.length = 0
    failed.clear()
    for (const round of rounds) {
      if (!round.parsed) continue
      const failing = failingTests(policy, round.parsed, input.argumentsOf)
      if (failing.length === 0) continue
      if (isNew(round, input.before)) {
        round.parsed = null
        round.problems = failing
        refused = true
      } else {
        notes.push(...asWarnings(failing))
        failed.set(round.offer.id.file, failing.length)
      }
    }
    if (!refused) break
    standing = standingOf(rounds, input)
    policy = compileAll(input.system, standing)
  }
  const problems = [
    ...rounds.flatMap((round) => problemsOf(round, standing)),
    ...notes,
    ...deadRuleWarnings(input.system, standing),
    ...[...standing.values()].flatMap((one) =>
      one.kind === 'active'
        ? [
            ...leftOutWarnings(policy, one.parsed),
            ...openWayWarnings(policy, one.parsed, input.argumentsOf),
          ]
        : [],
    ),
  ]
  return { policy, standing, problems, counts: countsOf(standing, failed) }
}
