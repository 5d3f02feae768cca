import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { foreignProgram } from '@gatehouse/testkit/programs'
import { expect, test } from 'vitest'
import { Installation } from './support/server.ts'

const inspector = foreignProgram('inspector')

test.skipIf(!inspector).each(['legacy', 'modern'])('the Inspector lists tools: %s', async (era) => {
  if (!inspector) return
  await using gate = new Installation()
  await gate.start()
  const { token } = await gate.createAgent('coder')
  const cli = inspector.file('@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  const { stdout } = await promisify(execFile)(inspector.node, [
    ...[cli, '--cli', '--server-url', `${gate.run?.gateway_url}/mcp`, '--transport', 'http'],
    ...['--header', `Authorization: Bearer ${token}`, '--protocol-era', era],
    ...['--format', 'json', '--method', 'tools/list'],
  ])
  expect(stdout).toContain('"filesystem__read"')
})
