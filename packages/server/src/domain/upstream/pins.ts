import type { UpstreamToolState } from '@gatehouse/contract'
import { type CertificateIdentity, isSameCertificate } from './certificate.ts'
import type { FeatureList } from './features.ts'
import { fitToolNames } from './tool-names.ts'

/** A definition as the server sent it. */
type Definition = { readonly name: string; readonly [key: string]: unknown }

/** A tool that a person has accepted: where it stood, and everything that was said of it. */
export type AcceptedTool = {
  readonly position: number
  readonly hash: string
  readonly definition: Definition
  /** The server has since been accepted under another identity, and the tool was not looked at again. */
  readonly stale?: true
}

export type Accepted = {
  /** Name that the server gave itself when the first of its tools was accepted; null before. */
  readonly server: string | null
  /** Of a server over https, whose tools were accepted under it. */
  readonly certificate?: CertificateIdentity
  readonly tools: readonly AcceptedTool[]
  /** Hash of what a person has declined, by the name of the tool: it asks nobody again before it is something else. */
  readonly declined?: Readonly<Record<string, string>>
}

export type Seen = {
  readonly server: string
  readonly version: string
  readonly protocol: string
  readonly certificate?: CertificateIdentity
  /** Whether it tells of changes of its resources. */
  readonly tells_changes?: true
  /** Lists of which it tells that they have changed; absent where there are none. */
  readonly changing_lists?: readonly FeatureList[]
  readonly tools: readonly Definition[]
}

/** Whether the server shows another certificate than the one under which its tools were accepted. */
export const isOtherCertificate = (
  { certificate: accepted }: Accepted,
  { certificate: found }: Pick<Seen, 'certificate'>,
): boolean => accepted !== undefined && (!found || !isSameCertificate(accepted, found))

/** Why it is another server than the one whose tools were accepted; null for the same one. */
const otherness = (accepted: Accepted, seen: Seen): string | null => {
  if (accepted.server !== null && accepted.server !== seen.server)
    return `the server called itself ${accepted.server}, and now ${seen.server}`
  return isOtherCertificate(accepted, seen)
    ? 'the server shows another certificate than the accepted one'
    : null
}

/** Hash of a tool with the server that shows it: the same words of another server are another offer. */
const offerHash = (
  rules: PinRules,
  { server, certificate }: Seen,
  definition: Definition,
): string =>
  rules.hash({ name: definition.name, definition, server, certificate: certificate ?? null })

const isDeclined = (
  rules: PinRules,
  { declined = {} }: Accepted,
  seen: Seen,
  definition: Definition,
): boolean => {
  const hash = Object.hasOwn(declined, definition.name) ? declined[definition.name] : undefined
  return hash !== undefined && hash === offerHash(rules, seen, definition)
}

const notSeenSince = 'it was accepted before the server became another'

/** Tools that are shown now, beside those that were seen before and are not shown, in the places that they had. */
export const withUnseen = (shown: Seen, before: Seen | null): Seen => {
  if (before === null) return shown
  const now = new Map(shown.tools.map((tool) => [tool.name, tool]))
  const known = new Set(before.tools.map(({ name }) => name))
  const kept = before.tools.map((tool) => now.get(tool.name) ?? tool)
  return { ...shown, tools: [...kept, ...shown.tools.filter(({ name }) => !known.has(name))] }
}

export type PinRules = {
  readonly group: string
  /** Must be the same for equal definitions alone. */
  hash(definition: Definition): string
  /** Why a definition can't be offered, whatever a person says; null where it can. */
  problemOf(definition: Definition): string | null
}

export type ComparedTool = {
  readonly tool: string
  readonly capability: string | null
  readonly state: UpstreamToolState
  readonly problem: string | null
  readonly renamed_from: string | null
  readonly position: number
  readonly hash: string
  /** Definition that the server has now; null for one that vanished. */
  readonly found: Definition | null
  readonly accepted: AcceptedTool | null
}

const contentHash = (rules: PinRules, definition: Definition): string =>
  rules.hash({ ...definition, name: '' })

/**
 * Tools that a server has now, compared with those that were accepted. A definition is pinned as a whole, by its name: one that
 * changed, and one under another name, is out of service until a person has seen it.
 * @SECURITY Nothing but `offered` may be called; pins.test.ts.
 */
export const compareTools = (
  rules: PinRules,
  accepted: Accepted,
  seen: Seen | null,
): readonly ComparedTool[] => {
  const pinned = new Map(accepted.tools.map((one) => [one.definition.name, one]))
  if (seen === null)
    return named(
      rules,
      accepted.tools.map(({ definition }) => definition),
    ).map(({ definition, capability }) => {
      const known = pinned.get(definition.name) ?? null
      return {
        tool: definition.name,
        capability,
        state: 'offered',
        problem: null,
        renamed_from: null,
        position: known?.position ?? 0,
        hash: known?.hash ?? '',
        found: definition,
        accepted: known,
      }
    })
  const names = new Set(seen.tools.map(({ name }) => name))
  const gone = accepted.tools.filter(({ definition }) => !names.has(definition.name))
  const other = otherness(accepted, seen)
  const found = named(rules, seen.tools).map(
    ({ definition, capability, problem }, position): ComparedTool => {
      const known = pinned.get(definition.name) ?? null
      const hash = rules.hash(definition)
      const refused = problem ?? rules.problemOf(definition)
      const isAccepted = known?.hash === hash
      const why = isAccepted ? (other ?? (known.stale ? notSeenSince : null)) : null
      const state = () => {
        if (refused !== null) return 'refused'
        if (isDeclined(rules, accepted, seen, definition)) return 'declined'
        if (known === null) return 'new'
        return isAccepted && why === null ? 'offered' : 'changed'
      }
      return {
        tool: definition.name,
        capability,
        state: state(),
        problem: refused ?? why,
        renamed_from: known === null ? renamedFrom(rules, gone, definition, position) : null,
        position,
        hash,
        found: definition,
        accepted: known,
      }
    },
  )
  const vanished = gone.map(
    (one): ComparedTool => ({
      tool: one.definition.name,
      capability: null,
      state: 'vanished',
      problem: null,
      renamed_from: null,
      position: one.position,
      hash: one.hash,
      found: null,
      accepted: one,
    }),
  )
  return [...found, ...vanished]
}

type Named = {
  readonly definition: Definition
  readonly capability: string | null
  readonly problem: string | null
}

const named = ({ group }: PinRules, definitions: readonly Definition[]): readonly Named[] => {
  const names = definitions.map(({ name }) => name)
  const fitted = fitToolNames(group, [...new Set(names)])
  const byName = new Map([...new Set(names)].map((name, i) => [name, fitted[i]]))
  return definitions.map((definition) => {
    const fit = byName.get(definition.name)
    const twice = names.filter((name) => name === definition.name).length > 1
    return {
      definition,
      capability: !twice && fit?.kind === 'fits' ? fit.capability : null,
      problem: twice
        ? 'the server lists it more than once'
        : fit?.kind === 'problem'
          ? fit.problem
          : null,
    }
  })
}

/** The tool that a new one takes the place of: with the same content, or else at the same position. */
const renamedFrom = (
  rules: PinRules,
  gone: readonly AcceptedTool[],
  definition: Definition,
  position: number,
): string | null => {
  const content = contentHash(rules, definition)
  const same = gone.find((one) => contentHash(rules, one.definition) === content)
  return (same ?? gone.find((one) => one.position === position))?.definition.name ?? null
}

/**
 * Accepted tools after a person has accepted these of the tools that wait.
 * @SECURITY One that was not chosen under another identity of its server stays out of service; pins.test.ts.
 */
export const acceptTools = (
  accepted: Accepted,
  compared: readonly ComparedTool[],
  seen: Seen,
  names: ReadonlySet<string>,
): Accepted => ({
  ...identityOf(seen),
  ...declinedOf(accepted, (name) => !names.has(name)),
  // A name that a server lists twice was accepted once.
  tools: distinct(
    compared.flatMap((one) => {
      const { found } = one
      const chosen = names.has(one.tool)
      if (found === null) return chosen || one.accepted === null ? [] : [one.accepted]
      if (one.state === 'offered' || (chosen && one.state !== 'refused'))
        return [{ position: one.position, hash: one.hash, definition: found }]
      if (!one.accepted) return []
      return [otherness(accepted, seen) === null ? one.accepted : { ...one.accepted, stale: true }]
    }),
  ),
})

const identityOf = ({ server, certificate }: Seen): Omit<Accepted, 'tools'> => ({
  server,
  ...(certificate ? { certificate } : {}),
})

const declinedOf = (
  { declined = {} }: Accepted,
  stays: (name: string) => boolean,
): Pick<Accepted, 'declined'> => {
  const left = Object.entries(declined).filter(([name]) => stays(name))
  return left.length === 0 ? {} : { declined: Object.fromEntries(left) }
}

/** Accepted tools with what a person has declined: these as they are now, and of others what the server still has. */
export const declineTools = (
  rules: PinRules,
  accepted: Accepted,
  seen: Seen,
  names: ReadonlySet<string>,
): Accepted => {
  const shown = new Set(seen.tools.map(({ name }) => name))
  const { declined = {} } = declinedOf(accepted, (name) => shown.has(name))
  const now = seen.tools
    .filter(({ name }) => names.has(name))
    .map((definition) => [definition.name, offerHash(rules, seen, definition)])
  return { ...accepted, declined: { ...declined, ...Object.fromEntries(now) } }
}

const distinct = (tools: readonly AcceptedTool[]): readonly AcceptedTool[] => [
  ...new Map(tools.map((one) => [one.definition.name, one])).values(),
]
