import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backends, ownUser } from './sandbox-kit.ts'

const compiled = new URL('../../dist/sandbox/create-sandbox.js', import.meta.url).href

/** Keeps a program in the sandbox until it is killed. */
const service = `
import { createSandbox } from '${compiled}'
const [dataDir, workspace, word, mode, user] = process.argv.slice(1)
const log = { debug() {}, info() {}, warn: console.error, error: console.error }
const sandbox = createSandbox({ dataDir, mode, user: user || null, log })
await sandbox.spawn({
  program: 'sh',
  args: ['-c', 'trap "" TERM INT HUP; (setsid sleep 60 &) ; touch up; sleep 60 # ' + word],
  environment: {}, working_directory: workspace, mounts: [{ source: workspace, writable: true }],
  network: { kind: 'none' },
  limits: { memory_bytes: 1e9, processes: 32, cpu_seconds: 60, file_bytes: 1e6, temporary_bytes: 1e6 },
})
console.log('running')
setInterval(() => {}, 1_000)
`

const named = (word: string): readonly number[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word)
        ? [Number(name)]
        : []
    } catch {
      return []
    }
  })

/** Time in which everything is gone, as the guide says. */
const promisedMs = 2_000

describe.each(backends)('when the service is killed and programs are kept by %s,', (mode) => {
  test('nothing of what ran in the sandbox is left within two seconds', async () => {
    const base = mkdtempSync(join(tmpdir(), 'gatehouse-crash-'))
    onTestFinished(() => rmSync(base, { recursive: true, force: true }))
    const workspace = join(base, 'workspaces', 'mailbot')
    mkdirSync(workspace, { recursive: true, mode: 0o700 })
    const word = `orphan-${process.pid}-${Date.now()}`
    const user = (mode === 'landlock' ? ownUser() : null) ?? ''
    chmodSync(base, 0o711)
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', service, base, workspace, word, mode, user],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(String((await once(child.stdout, 'data'))[0])).toBe('running\n')
    await expect.poll(() => existsSync(join(workspace, 'up'))).toBe(true)
    const inside = () => named(word).filter((pid) => pid !== child.pid)
    expect(inside().length).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await once(child, 'close')
    await expect.poll(inside, { timeout: promisedMs }).toEqual([])
    await expect.poll(() => named(base), { timeout: promisedMs }).toEqual([])
  })
})
