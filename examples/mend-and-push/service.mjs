import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const bin = new URL('../../packages/cli/bin/gatehouse.js', import.meta.url).pathname

const ports = ['gateway', 'user-api', 'dashboard', 'wake'].flatMap((name) => [
  `--${name}-port`,
  '0',
])

/** Gatehouse with all its data in one folder. */
export const startService = async (dataDir, flags) => {
  const child = spawn(process.execPath, [bin, 'serve', '--data-dir', dataDir, ...ports, ...flags], {
    stdio: 'ignore',
  })
  const file = join(dataDir, 'run.json')
  for (let tries = 0; !existsSync(file); tries += 1) {
    if (child.exitCode !== null || tries > 1200) throw new Error('the service did not start')
    await pause(50)
  }
  const { gateway_url } = JSON.parse(readFileSync(file, 'utf8'))

  /** What a person types. */
  const cli = (...args) =>
    JSON.parse(
      execFileSync(process.execPath, [bin, ...args, '--json', '--data-dir', dataDir], {
        encoding: 'utf8',
      }),
    )

  const rpc = async (token, method, params) => {
    const response = await fetch(`${gateway_url}/rpc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return response.json()
  }

  const dataOf = (capability, { success, data, error }) => {
    if (success) return data
    throw new Error(`${capability}: ${error.type}: ${error.message}`)
  }

  return {
    gateway_url,
    cli,
    /** An agent, as a function that calls a capability; `person` decides on what must be approved. */
    agent(name, person) {
      const { token } = cli('agent', 'create', name)
      return async (capability, args) => {
        const answer = await rpc(token, 'capabilities.invoke', { capability, arguments: args })
        if (answer.result) return dataOf(capability, answer.result)
        const { approval_id } = answer.error.data ?? {}
        if (approval_id === undefined) throw new Error(answer.error.message)
        const { preview } = cli('approvals', 'show', approval_id)
        if (!person(capability, preview.text)) throw new Error('the person said no')
        cli('approvals', 'approve', approval_id)
        const wait = { approval_id, timeout_seconds: 60 }
        const { result } = await rpc(token, 'approvals.wait', wait)
        return dataOf(capability, result.result)
      }
    },
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
