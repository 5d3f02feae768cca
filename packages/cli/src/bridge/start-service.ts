import { spawn } from 'node:child_process'
import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { isHeld } from '../run-file.ts'
import { tokenVariable } from './endpoint.ts'
import type { Locate } from './gateway.ts'

const startMs = 60_000
const lookMs = 50
/** After the end of the own one, how long another process may take to say that it has the data. */
const otherMs = 3_000
const logBytesMax = 1024 * 1024

/** Output of the service outlives this process: beside the data, and not without end. */
function openLog(file: string): number {
  const output = openSync(file, 'a', 0o600)
  if (fstatSync(output).size > logBytesMax) ftruncateSync(output)
  return output
}

export type StartInput = {
  readonly dataDir: string
  readonly configFile: string | undefined
  readonly locate: Locate
  readonly io: Pick<Io, 'env' | 'self'>
}

const failed = async (log: string, how: string | null): Promise<CliError> => {
  const lines = (await readFile(log, 'utf8').catch(() => '')).trim().split('\n')
  const last = lines.findLast((line) => line.startsWith('error:')) ?? lines.at(-1) ?? ''
  const why = how ?? `it did not listen within ${startMs / 1000} s`
  return new CliError(
    'NotStarted',
    exitCodes.notReachable,
    `The service could not be started (${why}): ${last}`,
    { recovery: [{ action: 'gatehouse doctor', description: `See what is wrong, and ${log}.` }] },
  )
}

/**
 * Starts the service on the data directory, as one that outlives this process, and waits until it listens. If
 * another process is quicker, that one's service is used, however long it takes to start within the same limit.
 */
export async function startService({ dataDir, configFile, locate, io }: StartInput) {
  const log = join(dataDir, 'service.log')
  const output = openLog(log)
  const { [tokenVariable]: _token, ...others } = io.env
  const flags = ['--data-dir', dataDir, ...(configFile ? ['--config', configFile] : [])]
  const child = spawn(
    process.execPath,
    [process.argv[1] ?? '', 'serve', '--quiet', '--no-first-agent', ...flags],
    {
      detached: true,
      stdio: ['ignore', output, output],
      env: others,
    },
  )
  closeSync(output)
  let how: string | null = null
  const lastMs = performance.now() + startMs
  let endMs = lastMs
  const ended = (said: string): void => {
    how = said
    endMs = performance.now() + otherMs
  }
  child.once('exit', (code) => ended(`exit code ${code ?? 1}`))
  child.once('error', ({ message }) => ended(message))
  child.unref()
  while (!(await locate())) {
    const nowMs = performance.now()
    if (nowMs > lastMs || (nowMs > endMs && !(await isHeld(dataDir)))) throw await failed(log, how)
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}
