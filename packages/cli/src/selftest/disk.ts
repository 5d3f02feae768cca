import { execFile } from 'node:child_process'
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { counted } from '../counted.ts'
import { Installation, invoke, pause } from './installation.ts'
import { startWithAgent } from './load-agent.ts'
import { type Finding, finding, type SectionContext } from './section.ts'

const execute = promisify(execFile)
const volumeBytes = 96 * 1024 * 1024
/** Promised on a machine with nothing else to do: shown beside what was measured, and not judged. */
const promisedAnswerMs = 1_000
const promisedBackMs = 5_000
/** Limit for work that never ends. */
const triesMaxMs = 120_000

const policy = `version: 1
limits:
  - { match: "filesystem.*", limit: 100000, window: 1m }
`

/** A volume of its own in memory; null where this user may not mount one. */
const mountVolume = async (): Promise<{ folder: string; unmount: () => Promise<void> } | null> => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-volume-'))
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${volumeBytes}`, 'tmpfs', folder])
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
  const unmount = async (): Promise<void> => {
    await execute('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  return { folder, unmount }
}

const pageBytes = 4096
/** Less than a segment of the log takes at first. */
const leftPages = 60

/** Writes until nothing fits any more but a few pages: what is begun then is not ended, wherever that is. */
const fillUp = (file: string): void => {
  const fd = openSync(file, 'w')
  try {
    for (let piece = Buffer.alloc(1024 * 1024); piece.length > 0; ) {
      try {
        writeSync(fd, piece)
      } catch {
        piece = piece.subarray(0, Math.floor(piece.length / 2))
      }
    }
    const left = Math.floor(Math.random() * leftPages) * pageBytes
    ftruncateSync(fd, Math.max(0, fstatSync(fd).size - left))
  } finally {
    closeSync(fd)
  }
}

type Verified = { readonly integrity: string; readonly detail?: string }
type Tried = { readonly type: string; readonly tookMs: number }

/** Fills the volume until calls are refused; what was allocated before takes some more entries. */
const refusedCalls = async (volume: string, attempt: () => Promise<Tried>): Promise<Tried[]> => {
  const refused: Tried[] = []
  for (let i = 0; i < 20_000 && refused.length < 20; i += 1) {
    if (i % 200 === 0) fillUp(join(volume, `filler-${i}`))
    const tried = await attempt()
    if (tried.type !== 'answered') refused.push(tried)
  }
  return refused
}

const freeUp = (volume: string): void => {
  for (const name of readdirSync(volume))
    if (name.startsWith('filler-')) rmSync(join(volume, name), { force: true })
}

/** How long it takes until a call is answered again; null where none is. */
const backAfterMs = async (attempt: () => Promise<Tried>): Promise<number | null> => {
  const freedAt = performance.now()
  const waited = (): number => performance.now() - freedAt
  while (waited() < triesMaxMs) {
    if ((await attempt()).type === 'answered') return Math.round(waited())
    await pause(50)
  }
  return null
}

const refusal = (refused: readonly Tried[]): Finding => {
  const what = 'with a full disk every call is refused at once'
  const [first] = refused
  if (!first) return finding(what, false, 'the disk could not be made full')
  const slowest = Math.max(...refused.map(({ tookMs }) => tookMs))
  const holds = refused.every(({ type }) => type === 'AuditUnavailable')
  const slow = `the slowest after ${Math.round(slowest)} ms (${promisedAnswerMs} ms on an idle machine)`
  return finding(what, holds, `${counted(refused.length, 'call')}, ${slow}, as ${first.type}`)
}

/** A full disk: calls are refused at once, and nothing runs; with space they work again without a restart. */
const onFullDisk = async (gate: Installation, volume: string): Promise<readonly Finding[]> => {
  const { run, token } = await startWithAgent(gate, policy)
  const attempt = async (): Promise<Tried> => {
    const startedAt = performance.now()
    const { result, error } = await invoke(run, token, 'filesystem.stat', { path: 'x' })
    const type = result ? 'answered' : String(error?.data?.['type'])
    return { type, tookMs: performance.now() - startedAt }
  }
  const refused = await refusedCalls(volume, attempt)
  freeUp(volume)
  const backMs = await backAfterMs(attempt)
  const code = await gate.stop()
  const verified = await gate.cli(['audit', 'verify', '--json'])
  const { integrity, detail = '' } = JSON.parse(verified.stdout) as Verified
  return [
    refusal(refused),
    finding(
      'with space calls work again without a restart',
      backMs !== null,
      backMs === null
        ? 'they do not'
        : `after ${backMs} ms (${promisedBackMs} ms at most on an idle machine)`,
    ),
    finding(
      'the log verifies after that',
      integrity === 'verified' && code === 0,
      [`audit verify: ${integrity}`, ...(detail === '' ? [] : [detail])].join(', '),
    ),
  ]
}

export const diskSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  const volume = await mountVolume()
  if (!volume) {
    const detail = 'it needs a small volume of its own (tmpfs), and this user may not mount one'
    return [{ what: 'a full disk', verdict: 'skipped', detail }]
  }
  try {
    const { bavail, bsize } = statfsSync(volume.folder)
    context.progress(bavail * bsize > 0 ? 0.2 : 0.1)
    const data = join(volume.folder, 'data')
    mkdirSync(data, { mode: 0o700 })
    await using gate = new Installation(context.program, data)
    const found = await onFullDisk(gate, volume.folder)
    context.progress(1)
    return found
  } finally {
    await volume.unmount()
  }
}
