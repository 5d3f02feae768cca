import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { counted } from '../counted.ts'
import { damagedStarts } from './damage.ts'
import { Installation } from './installation.ts'
import { makeEntries, type Ready, startWithAgent } from './load-agent.ts'
import { patientFetch } from './patient-fetch.ts'
import { bySize, type Finding, finding, firstOf, type SectionContext } from './section.ts'
import { random } from './seeded-random.ts'
import {
  bodyAt,
  type Change,
  chainHash,
  type FoundEntry,
  findEntries,
  overwrite,
} from './segment-text.ts'

type Integrity = {
  readonly integrity: string
  readonly first_bad_seq?: number
  readonly kind?: string
}

type Below = ReturnType<typeof random>

const flipped = ({ file, at, line }: FoundEntry, place: number, bit: number): Change => ({
  ...{ file, at: at + place },
  text: String.fromCharCode(line.charCodeAt(place) ^ (1 << bit)),
})

type Mutation = (entries: readonly FoundEntry[], i: number, below: Below) => readonly Change[]

/** Each changes what is on the disk from entry `i` on, which is neither the first nor the last. */
const mutations: Readonly<Record<string, Mutation>> = {
  'a bit of an entry': (entries, i, below) => {
    const entry = entries[i] as FoundEntry
    // Not one that makes a line break or a zero of it: that moves lines, which has a kind of its own.
    return [flipped(entry, bodyAt + below(entry.line.length - bodyAt), 0)]
  },
  'a bit of a hash': (entries, i, below) => [flipped(entries[i] as FoundEntry, below(64), 0)],
  'a success made a denial': (entries, i) => {
    const { file, at, line } = entries[i] as FoundEntry
    const place = line.indexOf('"result":"success"')
    return place < 0
      ? [flipped(entries[i] as FoundEntry, bodyAt + 20, 0)]
      : [{ file, at: at + place, text: '"result":"denied "' }]
  },
  'two entries swapped': (entries, i) => {
    const [a, b] = [entries[i] as FoundEntry, entries[i + 1] as FoundEntry]
    const [body, other] = [a.line.slice(bodyAt), b.line.slice(bodyAt)]
    // Bodies swap places only where they are as long; else the first is blanked.
    return body.length === other.length
      ? [
          { file: a.file, at: a.at + bodyAt, text: other },
          { file: b.file, at: b.at + bodyAt, text: body },
        ]
      : [{ file: a.file, at: a.at + bodyAt, text: ' '.repeat(body.length) }]
  },
  'an entry changed and every hash after it made anew': (entries, i) => {
    const { file, at, line } = entries[i] as FoundEntry
    let before = (entries[i - 1] as FoundEntry).line.slice(0, 64)
    const forged = line
      .slice(bodyAt)
      .replace('"kind":"call"', '"kind":"dall"')
      .replace('"kind":"act"', '"kind":"bct"')
    const changes: Change[] = [{ file, at: at + bodyAt, text: forged }]
    for (const entry of entries.slice(i)) {
      const body = entry.seq === i ? forged : entry.line.slice(bodyAt)
      before = chainHash(before, entry.seq, body)
      changes.push({ file: entry.file, at: entry.at, text: before })
    }
    return changes
  },
}

const verify = async ({ run, userToken }: Ready): Promise<Integrity> => {
  const response = await patientFetch(`${run.user_api_url}/api/audit/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${userToken}` },
  })
  return (await response.json()) as Integrity
}

const tamperWithEntries = async (
  context: SectionContext,
  ready: Ready,
  dataDir: string,
  rounds: number,
): Promise<Finding> => {
  const entries = findEntries(dataDir)
  const below = random(20_261_125)
  const names = Object.keys(mutations)
  const missed: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const name = names[round % names.length] as string
    const i = 1 + below(entries.length - 2)
    const putBack = overwrite(mutations[name]?.(entries, i, below) ?? [])
    const found = await verify(ready)
    putBack()
    if (found.integrity !== 'failed' || found.first_bad_seq !== i)
      missed.push(
        `${name} at entry ${i}: ${found.integrity}, names ${found.first_bad_seq ?? 'none'}`,
      )
    context.progress((round + 1) / rounds)
    context.signal.throwIfAborted()
  }
  const after = await verify(ready)
  if (after.integrity !== 'verified') missed.push('the log as it was is not verified any more')
  return finding(
    'random changes to the log are found, and the first entry is named',
    missed.length === 0,
    missed.length === 0
      ? `${rounds} of ${rounds} in ${counted(entries.length, 'entry', 'entries')}, by a running service`
      : `${missed.length} of ${rounds}: ${firstOf(missed)}`,
  )
}

/** A file of the log that is gone, cut or altered while nothing runs; `audit verify` says what it finds. */
const tamperWithFiles = async (gate: Installation): Promise<Finding> => {
  const folder = join(gate.dataDir, 'audit')
  const segments = join(folder, 'segments')
  const oldest =
    readdirSync(segments)
      .filter((name) => name.endsWith('.log'))
      .sort()[0] ?? ''
  const missed: string[] = []
  const attempt = async (what: string, file: string, change: (bytes: Buffer) => Buffer | null) => {
    const [bytes, { mode }] = [readFileSync(file), statSync(file)]
    const changed = change(bytes)
    unlinkSync(file)
    if (changed) writeFileSync(file, changed, { mode: mode | 0o600 })
    const { stdout } = await gate.cli(['audit', 'verify', '--json'])
    if (!stdout.includes('"integrity":"failed"') && !stdout.includes('"integrity": "failed"'))
      missed.push(what)
    if (existsSync(file)) unlinkSync(file)
    writeFileSync(file, bytes, { mode: 0o600 })
    chmodSync(file, mode)
  }
  await attempt('a segment removed', join(segments, oldest), () => null)
  await attempt('a segment cut in half', join(segments, oldest), (bytes) =>
    bytes.subarray(0, bytes.length / 2),
  )
  return finding(
    'segments that are removed or cut while nothing runs are found',
    missed.length === 0,
    missed.length === 0 ? '2 of 2' : firstOf(missed),
  )
}

export const tamperingSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  const [count, rounds] = bySize(context, [400, 25], [1_500, 1_000], [10_000, 10_000])
  const part = (from: number): SectionContext => ({
    ...context,
    progress: (share) => context.progress(from + share / 2),
  })
  await using gate = new Installation(context.program)
  const ready = await startWithAgent(gate, null)
  await makeEntries(ready, count)
  const found = await tamperWithEntries(part(0), ready, gate.dataDir, rounds)
  await gate.stop()
  return [found, await tamperWithFiles(gate), await damagedStarts(part(0.5))]
}
