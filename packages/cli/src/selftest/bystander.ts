import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../counted.ts'
import { type Installation, invoke, pause, type Run } from './installation.ts'
import type { Ready } from './load-agent.ts'
import { patientFetch } from './patient-fetch.ts'
import { type Finding, finding, firstOf } from './section.ts'

/** Answer of a service that is busy at the moment: it says when to come again, and is right to. */
const isBusy = (error: { readonly data?: Record<string, unknown> } | undefined): boolean =>
  error?.data?.['reason'] === 'overloaded'

/** An honest agent that calls all the time, and must be served whatever others do. */
export class Bystander implements AsyncDisposable {
  readonly #latencies: number[] = []
  readonly #failures: string[] = []
  #stopped = false
  #calling: Promise<void> = Promise.resolve()

  static async begin(gate: Installation, run: Run): Promise<Bystander> {
    const { token } = await gate.createAgent('bystander')
    const bystander = new Bystander()
    bystander.#calling = bystander.#call(run, token)
    return bystander
  }

  async #call(run: Run, token: string): Promise<void> {
    while (!this.#stopped) {
      const startedAt = performance.now()
      const { result, error } = await invoke(run, token, 'system.time').catch((cause: unknown) => ({
        result: undefined,
        error: { message: String(cause), data: {} },
      }))
      if (result?.success !== true && !isBusy(error))
        this.#failures.push(error?.message ?? 'no result')
      this.#latencies.push(performance.now() - startedAt)
      await pause(100)
    }
  }

  /** How long it waited is shown and not judged: that depends on the machine. */
  async finding(): Promise<Finding> {
    this.#stopped = true
    await this.#calling
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const median = Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)
    const longest = Math.round(sorted.at(-1) ?? 0)
    return finding(
      'another agent is served all the while',
      this.#failures.length === 0 && sorted.length > 0,
      this.#failures.length === 0
        ? `${counted(sorted.length, 'call')}, half of them within ${median} ms, all within ${longest} ms`
        : firstOf(this.#failures),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    await this.#calling
  }
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() ? [path] : []
  })

/** State of the service after everything: it is the same process, its log verifies, and no token lies in its files. */
export const unharmed = async (
  gate: Installation,
  { run, token, userToken }: Ready,
): Promise<Finding> => {
  const wrong: string[] = []
  if (gate.run?.pid !== run.pid || !gate.isRunning) wrong.push('the process is another')
  const verified = await patientFetch(`${run.user_api_url}/api/audit/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${userToken}` },
  })
  const { integrity } = (await verified.json()) as { integrity: string }
  if (integrity !== 'verified') wrong.push(`the log is ${integrity}`)
  const holders = filesBelow(gate.dataDir).filter((file) => readFileSync(file).includes(token))
  if (gate.output.includes(token)) holders.push('its own log')
  if (holders.length > 0) wrong.push(`the token of an agent lies in ${firstOf(holders)}`)
  return finding(
    'the service is unharmed',
    wrong.length === 0,
    wrong.length === 0
      ? 'the same process, a log that verifies, no token in its files'
      : firstOf(wrong),
  )
}
