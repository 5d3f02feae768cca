import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

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

  /** What a person types. This process goes on meanwhile: the service may need a server in it, such as the remote. */
  const cli = async (...args) => {
    const { stdout } = await execute(process.execPath, [
      ...[bin, ...args],
      ...['--json', '--data-dir', dataDir],
    ])
    return JSON.parse(stdout)
  }

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
    async agent(name, person) {
      const { token } = await cli('agent', 'create', name)
      return async (capability, args) => {
        const answer = await rpc(token, 'capabilities.invoke', { capability, arguments: args })
        if (answer.result) return dataOf(capability, answer.result)
        const { approval_id } = answer.error.data ?? {}
        if (approval_id === undefined) throw new Error(answer.error.message)
        const { preview } = await cli('approvals', 'show', approval_id)
        if (!person(capability, preview.text)) throw new Error('the person said no')
        await cli('approvals', 'approve', approval_id)
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
