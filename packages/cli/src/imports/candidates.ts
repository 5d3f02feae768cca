import { isLikelySecret } from '@gatehouse/contract/likely-secret'
import { type Definition, fingerprintOf } from './definition.ts'
import type { FoundServer } from './find-servers.ts'
import type { KeptImport } from './import-record.ts'

export type UsableServer = Extract<FoundServer, { readonly problem: null }>

/** A server that can go behind the gate, with every place that has it. */
export type Candidate = {
  readonly definition: Definition
  readonly fingerprint: string
  readonly from: readonly UsableServer[]
  /** Name that an earlier import gave the same server. */
  readonly known: string | null
  /** Names of its variables or headers that go into the vault. */
  readonly secrets: readonly string[]
}

const lengthMax = 31

const cut = (text: string): string => text.slice(0, lengthMax).replaceAll(/-+$/g, '')

/** A name as upstream servers have one. */
export function fittingName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return cut(/^[a-z]/.test(plain) ? plain : `mcp-${plain}`)
}

/** Names for a server, the first that is free to be taken. */
export function namesFor({ from }: Candidate): readonly string[] {
  const [first] = from
  if (!first) return []
  const base = fittingName(first.name)
  const end = first.config.client.id
  const numbers = ['', '-2', '-3', '-4', '-5']
  const ends = numbers.map((number) => `-${end}${number}`)
  return [base, ...ends.map((one) => `${cut(base.slice(0, lengthMax - one.length))}${one}`)]
}

/** Headers all go into the vault: a server over HTTP gets them from nowhere else. */
const secretsOf = ({ server, values }: Definition, named: readonly string[]): readonly string[] =>
  Object.entries(values)
    .filter(
      ([name, value]) =>
        server.kind === 'http' ||
        isLikelySecret(name, value) ||
        (value !== '' && named.includes(name)),
    )
    .map(([name]) => name)

/** The same server in two places is one. `named` are variables that somebody says are secrets. */
export function candidatesOf(
  servers: readonly UsableServer[],
  kept: readonly KeptImport[],
  named: readonly string[],
): readonly Candidate[] {
  const byPrint = new Map<string, UsableServer[]>()
  for (const server of servers) {
    const fingerprint = fingerprintOf(server.definition)
    byPrint.set(fingerprint, [...(byPrint.get(fingerprint) ?? []), server])
  }
  const known = new Map(
    kept.flatMap((one) => one.servers.map(({ definition, upstream }) => [definition, upstream])),
  )
  return [...byPrint].flatMap(([fingerprint, from]) => {
    const [first] = from
    if (!first) return []
    const { definition } = first
    const secrets = secretsOf(definition, named)
    return [{ definition, fingerprint, from, known: known.get(fingerprint) ?? null, secrets }]
  })
}
