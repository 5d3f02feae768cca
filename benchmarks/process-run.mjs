// P11 whole: `process.run true` by way of the running service, with policy, log and sandbox, over a plain
// spawn of the same program from this process. Each pair is measured in turn.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cli, median, startServer, temporaryFolder } from './lib.mjs'

const policy = `version: 1
rules:
  - { match: process.run, tier: autonomous }
limits:
  - { match: "process.*", limit: 100000, window: 1s }
`

const plain = async () => {
  const startedAt = performance.now()
  await once(spawn('/usr/bin/true', { stdio: 'ignore' }), 'exit')
  return performance.now() - startedAt
}

const governed = async (url, token) => {
  const startedAt = performance.now()
  const response = await fetch(`${url}/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'capabilities.invoke',
      params: { capability: 'process.run', arguments: { command: 'true' } },
    }),
  })
  const { result } = /** @type {any} */ (await response.json())
  const took = performance.now() - startedAt
  if (result?.data?.exit_code !== 0)
    throw new Error(`process.run failed: ${JSON.stringify(result)}`)
  return took
}

export const processRun = async ({ rounds }) => {
  const { folder, remove } = temporaryFolder()
  const server = await startServer(folder)
  const pairs = []
  try {
    const { token, agent } = JSON.parse(await cli(folder, 'agent', 'create', 'bench', '--json'))
    mkdirSync(agent.workspace, { recursive: true })
    const file = join(folder, 'bench.yaml')
    writeFileSync(file, policy)
    await cli(folder, 'policy', 'set', file)
    for (let i = 0; i < 10; i += 1) await governed(server.gateway_url, token)
    for (let i = 0; i < rounds * 50; i += 1)
      pairs.push({ plain: await plain(), governed: await governed(server.gateway_url, token) })
  } finally {
    await server.stop()
    remove()
  }
  const value = median(pairs.map((pair) => pair.governed))
  const yardstick = median(pairs.map((pair) => pair.plain))
  return [
    {
      id: 'P11',
      what: 'process.run true, over a plain spawn (ms, p50)',
      value: value - yardstick,
      yardstick,
      ratio: value / yardstick,
      bar: '≤ + 8 ms',
    },
  ]
}
