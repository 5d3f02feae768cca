import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { homes } from './homes.ts'
import { Installation, type Run } from './server.ts'

/** Two gate processes, and no agents yet. */
export const flags = ['--workers', '2', '--no-first-agent']
const [first, second] = homes()

/** A service with its gate processes. */
export type Gate = { readonly gate: Installation; readonly run: Run }

export const startGate = async (more: readonly string[] = []): Promise<Gate & AsyncDisposable> => {
  const gate = new Installation()
  const run = await gate.start([...flags, ...more])
  return { gate, run, [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose]() }
}

export const api = async <T>(
  { gate, run }: Gate,
  method: string,
  path: string,
  body?: object,
): Promise<T> => {
  const token = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
  const answer = await fetch(`${run.user_api_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return (await answer.json()) as T
}

/** Process of the second gate, by its command line. */
export const secondPid = ({ run }: Gate): number =>
  Number(
    execFileSync('pgrep', ['-P', String(run.pid), '-f', 'gate-main'], {
      encoding: 'utf8',
    }).trim(),
  )

/** An agent at home in each of the two. */
export const createBoth = async ({ gate }: Gate) => {
  const [a, b] = [first[0] ?? '', second[0] ?? '']
  return {
    a,
    b,
    tokenA: (await gate.createAgent(a)).token,
    tokenB: (await gate.createAgent(b)).token,
  }
}

export type Page = {
  readonly total: number
  readonly integrity: string
  readonly entries: readonly {
    readonly id: string
    readonly agent: string
    readonly capability: string
    readonly result: string
  }[]
}
