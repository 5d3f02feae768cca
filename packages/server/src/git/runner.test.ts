import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import type { SandboxResult } from '../ports/sandbox.ts'
import { runProgram } from './runner.ts'

const options = { args: [], environment: {}, mounts: [], workingDirectory: '/w' }

const result: SandboxResult = {
  code: 0,
  signal: null,
  usage: { duration_ms: 1, cpu_ms: null, memory_bytes_max: null },
  backend: 'bubblewrap',
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  truncated: false,
  timed_out: false,
}

const depsOf = (run: () => Promise<SandboxResult>, signal = new AbortController().signal) => ({
  sandbox: { run },
  signal,
  noted: () => {},
  capability: 'git.status',
})

test('a machine without git says so, and what to do', async () => {
  const deps = depsOf(() =>
    Promise.reject(new GatehouseError('ProgramNotFound', { program: 'git' })),
  )
  await expect(runProgram(deps, options)).rejects.toMatchObject({
    type: 'GitFailed',
    message: 'Git ended with an error: git is not installed where this service runs',
    recovery: [{ action: 'install git' }],
  })
})

test('other failures of the sandbox pass as they are', async () => {
  const failure = new GatehouseError('SandboxUnavailable', { reason: 'none' })
  await expect(
    runProgram(
      depsOf(() => Promise.reject(failure)),
      options,
    ),
  ).rejects.toBe(failure)
})

test('a run that took too long names the capability and its limit', async () => {
  const deps = depsOf(async () => ({ ...result, timed_out: true }))
  await expect(runProgram(deps, { ...options, timeoutMs: 5_000 })).rejects.toMatchObject({
    type: 'DeadlineExceeded',
    facts: { capability: 'git.status', timeout_seconds: 5 },
  })
})

test('nothing starts for a call that is over', async () => {
  const stopped = AbortSignal.abort(new Error('over'))
  const deps = depsOf(() => Promise.reject(new Error('it started')), stopped)
  await expect(runProgram(deps, options)).rejects.toThrow('over')
})
