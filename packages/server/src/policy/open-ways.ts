import type { FileEffect, PolicyProblem, PolicyTier } from '@gatehouse/contract'
import { isStricter, tierOf } from '../domain/policy/tiers.ts'
import { decideTool } from '../domain/policy/tools.ts'
import type { CompiledPolicy, LayerRule } from '../domain/policy/types.ts'
import type { ParsedFile } from './parse-file.ts'
import { type ArgumentsOf, buildTestQuestion } from './run-tests.ts'
import { andList } from './unknown-names.ts'

/** A capability, and the argument of it that names the place. */
type Way = readonly [capability: string, argument: string]

/** Ways to one and the same end: who closes one of them means the end. */
type Family = {
  readonly ways: readonly Way[]
  /** Whether a rule without a condition means the end, too, and not just this one capability. */
  readonly always: boolean
  readonly act: string
  /** Effect that a rule for all of them matches. */
  readonly effect: FileEffect
}

const families: readonly Family[] = [
  {
    always: true,
    act: 'write',
    effect: 'write',
    ways: [
      ['filesystem.write', 'path'],
      ['filesystem.append', 'path'],
      ['filesystem.edit', 'path'],
      ['filesystem.mkdir', 'path'],
      ['filesystem.copy', 'destination'],
      ['filesystem.move', 'destination'],
    ],
  },
  {
    always: false,
    act: 'remove files',
    effect: 'delete',
    ways: [
      ['filesystem.delete', 'path'],
      ['filesystem.move', 'source'],
    ],
  },
  {
    always: true,
    act: 'read files',
    effect: 'read',
    ways: [
      ['filesystem.read', 'path'],
      ['filesystem.search_content', 'path'],
      ['filesystem.copy', 'source'],
      ['filesystem.move', 'source'],
    ],
  },
]

/** A place that no rule names. */
const elsewhere = 'a-place-of-no-rule/a'
const rulesMax = 100
const placesMax = 20

const placesIn = (text: string): readonly string[] =>
  text === '' ? [] : text.endsWith('/') ? [`${text}a`] : [text, `${text}/a`]

/** Places that tell the sides of a rule apart; null for a rule about something else than the argument. */
const placesOf = ({ when, tier }: LayerRule, argument: string, { always }: Family) => {
  if (!when) return always && tier !== 'autonomous' ? [elsewhere] : null
  if (when.reads && !when.reads.has(argument)) return null
  const named = (when.texts ?? []).flatMap(placesIn)
  return named.length > 0 ? [...named.slice(0, placesMax), elsewhere] : null
}

type Asking = {
  readonly policy: CompiledPolicy
  readonly file: ParsedFile
  readonly argumentsOf: ArgumentsOf
}

const decide = (asking: Asking, [capability, argument]: Way, place: string) => {
  const paths = asking.argumentsOf(capability)?.paths ?? []
  const others = paths.filter((name) => name !== argument && name !== 'root')
  const args = Object.fromEntries([...others.map((name) => [name, elsewhere]), [argument, place]])
  const agent = asking.file.id.agent ?? undefined
  const question = buildTestQuestion({ capability, args, agent }, asking.argumentsOf)
  return decideTool(asking.policy, question)
}

const describe = (
  rule: LayerRule,
  tier: PolicyTier,
  place: string,
  open: readonly string[],
  { act, effect }: Family,
): string => {
  const all = `; match: { effect: ${effect} } covers them all`
  const where = place !== elsewhere ? ` for ${place}` : rule.when ? ' elsewhere' : ''
  return tier === 'blocked'
    ? `${rule.match} is blocked${where}, but ${andList(open)} can still ${act} there${all}`
    : `${rule.match} needs approval${where}, but ${andList(open)} can ${act} there without it${all}`
}

const warningOf = (asking: Asking, rule: LayerRule, family: Family, argument: string) => {
  const { file } = asking
  for (const place of placesOf(rule, argument, family) ?? []) {
    const decision = decide(asking, [rule.match, argument], place)
    const tier = tierOf(decision)
    const decided = file.layer.rules.find(
      ({ ref, match }) => ref === decision.rule && match === rule.match,
    )
    if (tier === 'autonomous' || !decided) continue
    const open = family.ways
      .filter(
        ([capability]) => capability !== rule.match && file.names.capabilities.has(capability),
      )
      .filter((way) => isStricter(tier, tierOf(decide(asking, way, place))))
      .map(([capability]) => capability)
    if (open.length > 0) return { decided, message: describe(rule, tier, place, open, family) }
  }
  return null
}

/** A rule by effect that a program gets around: the sandbox shows it the folders whole. */
const pastPrograms = (asking: Asking): readonly (readonly [LayerRule, string])[] => {
  const { policy, file, argumentsOf } = asking
  const rule = file.layer.rules.find(
    (one) => one.written_when !== undefined && one.tier !== 'autonomous',
  )
  if (!rule || !file.names.capabilities.has('process.run')) return []
  const args = { command: 'true' }
  const agent = file.id.agent ?? undefined
  const run = decideTool(
    policy,
    buildTestQuestion({ capability: 'process.run', args, agent }, argumentsOf),
  )
  const message = `${rule.ref.match} ${rule.tier === 'blocked' ? 'is blocked' : 'needs approval'}, but programs of process.run run at once and are not held to it`
  return tierOf(run) === 'autonomous' ? [[rule, message]] : []
}

/** Warnings about rules that close one way to a place while others to the same end stay open. */
export const openWayWarnings = (
  policy: CompiledPolicy,
  file: ParsedFile,
  argumentsOf: ArgumentsOf,
): readonly PolicyProblem[] => {
  const asking = { policy, file, argumentsOf }
  const found = new Map<LayerRule, string>()
  const ways = families.flatMap((family) => family.ways.map((way) => ({ family, way })))
  const told = (rule: LayerRule) => ways.filter(({ way }) => way[0] === rule.match)
  // A rule by effect has no other way: it decides all of them.
  const rules = file.layer.rules.filter(
    (one) => one.written_when === undefined && told(one).length > 0,
  )
  for (const rule of rules.slice(0, rulesMax))
    for (const { family, way } of told(rule)) {
      const warning = warningOf(asking, rule, family, way[1])
      const isTold = [...found.keys()].some(({ ref }) => ref === warning?.decided.ref)
      if (warning && !isTold) found.set(warning.decided, warning.message)
    }
  return [...found, ...pastPrograms(asking)].map(([rule, message]) => ({
    file: file.id.file,
    ...file.positionOf(rule),
    message,
    severity: 'warning',
  }))
}
