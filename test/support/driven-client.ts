import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type Told = { readonly text: string; readonly failed: boolean }

/** A client of others in a process of its own, which `drive.mjs` makes speak lines of JSON. */
export type DrivenClient = AsyncDisposable & {
  list(): Promise<readonly string[]>
  /** What a model would read of the answer, however the client hands it over. */
  call(tool: string, args?: object): Promise<Told>
}

type Answer = Partial<Told> & { readonly id: number; readonly tools?: readonly string[] }

type Waiting = {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

export const openDrivenClient = async (
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<DrivenClient> => {
  // What it keeps for a person, it keeps away from the one who runs the tests.
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-client-'))
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, HOME: home, NO_COLOR: '1', ...env },
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const waiting = new Map<number, Waiting>()
  const answerTo = (id: number): Promise<Answer> =>
    new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  const ready = answerTo(0)
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{"id":')) return
    const answer = JSON.parse(line) as Answer
    waiting.get(answer.id)?.resolve(answer)
    waiting.delete(answer.id)
  })
  const closed = once(child, 'close').then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`the client ended: ${said}`))
  })
  let last = 0
  const ask = (request: object): Promise<Answer> => {
    last += 1
    const answer = answerTo(last)
    child.stdin.write(`${JSON.stringify({ id: last, ...request })}\n`)
    return answer
  }
  await ready
  return {
    list: async () => (await ask({ do: 'list' })).tools ?? [],
    async call(tool, toolArgs = {}) {
      const { text = '', failed = false } = await ask({ do: 'call', tool, args: toolArgs })
      return { text, failed }
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      const stuck = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await closed
      clearTimeout(stuck)
      rmSync(home, { recursive: true, force: true })
    },
  }
}
