import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

type Answer = { readonly id?: number; readonly result?: unknown; readonly error?: unknown }
type Listed = { readonly data: readonly { readonly hooks: readonly Hook[] }[] }
type Hook = { readonly key: string; readonly currentHash: string }

/** Trusts the hooks of Codex as `/hooks` does for a person: by the server that its own interface talks to. */
export const trustCodexHooks = async (
  program: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> => {
  const child = spawn(program, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last = 0
  const ask = async (method: string, params: object): Promise<unknown> => {
    last += 1
    child.stdin.write(`${JSON.stringify({ id: last, method, params })}\n`)
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error(`Codex ended before it answered ${method}`)
      const { id, result, error } = JSON.parse(value) as Answer
      if (id !== last) continue
      if (error) throw new Error(`Codex answered ${method} with ${JSON.stringify(error)}`)
      return result
    }
  }
  await ask('initialize', { clientInfo: { name: 'gatehouse-test', version: '1.0.0' } })
  child.stdin.write(`${JSON.stringify({ method: 'initialized' })}\n`)
  const { data } = (await ask('hooks/list', { cwds: [cwd] })) as Listed
  const hooks = data.flatMap((entry) => entry.hooks)
  const value = Object.fromEntries(
    hooks.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]),
  )
  const edits = [{ keyPath: 'hooks.state', mergeStrategy: 'upsert', value }]
  await ask('config/batchWrite', { edits })
  child.stdin.end()
  await once(child, 'close')
}
